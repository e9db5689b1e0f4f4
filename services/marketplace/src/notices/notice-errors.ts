import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const noticeProblems = {
  notFound: {
    code: "notice-not-found",
    status: 404,
    title: "Notice not found",
    advice: "Use an id from the list of notices. Old notices are deleted: read ones after 90 days, all after 400 days.",
  },
  linkInvalid: {
    code: "unsubscribe-link-invalid",
    status: 404,
    title: "Unsubscribe link invalid",
    advice:
      "Use the whole link of a mail to the current address. Links of mails to an earlier address have no effect: change the notice settings instead.",
  },
  confirmationInvalid: {
    code: "confirmation-link-invalid",
    status: 404,
    title: "Confirmation link invalid",
    advice:
      "Open the whole link of the newest mail to the current address, within seven days. To get another one, save the notice settings again.",
  },
  tooManyConfirmations: {
    code: "too-many-confirmations",
    status: 429,
    title: "Too many confirmations",
    advice:
      "At most ten of these mails are sent a day for whoever sets addresses. Keep the current address to save the other settings, or try again later.",
  },
} as const satisfies Record<string, ProblemKind>;
