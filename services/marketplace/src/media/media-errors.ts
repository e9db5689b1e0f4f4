import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const mediaProblems = {
  notFound: {
    code: "media-not-found",
    status: 404,
    title: "No such media",
    advice:
      "Check the id. Media is public once a revision with it is published; unused media is deleted after 30 days.",
  },
  gone: {
    code: "media-gone",
    status: 410,
    title: "The file can't be read any more",
    advice:
      "Show nothing instead. A suspended app's files are there again once the app is reinstated; a removed file never is: upload another one.",
  },
  unusableFile: {
    code: "unusable-file",
    status: 422,
    title: "The file can't be used",
    advice: "`detail` says what is wrong with the file. Correct it, or export it again, and upload it.",
  },
  tooMany: {
    code: "too-many-media",
    status: 409,
    title: "The listing has too many files",
    advice:
      "A listing can have 500 files. Those that its draft doesn't refer to are deleted after 30 days: upload only those that you use.",
  },
  tooManyUploads: {
    code: "too-many-uploads",
    status: 429,
    title: "Too many uploads",
    advice: "Wait for the uploads in progress, or for the number of seconds in `Retry-After`. Then retry.",
  },
} satisfies Record<string, ProblemKind>;
