import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const replayProblems = {
  notFound: {
    code: "replay-not-found",
    status: 404,
    title: "No such replay",
    advice: "No replay of this endpoint has that id. It was in the answer to `POST /developer/webhooks/{id}/replays`.",
  },
  underWay: {
    code: "replay-under-way",
    status: 409,
    title: "The endpoint has a replay already",
    advice:
      "An endpoint has one replay at a time. Wait until it is done, or cancel it: the problem's detail names its id.",
  },
} satisfies Record<string, ProblemKind>;
