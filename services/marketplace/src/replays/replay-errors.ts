import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const replayProblems = {
  notFound: {
    code: "replay-not-found",
    status: 404,
    title: "Replay not found",
    advice: "No replay of this endpoint has that id. `GET /developer/webhooks/{id}/replays` lists them.",
  },
  underWay: {
    code: "replay-under-way",
    status: 409,
    title: "The endpoint has a running replay",
    advice:
      "An endpoint has one replay at a time. Wait until it is done, or cancel it; the problem's detail has its id.",
  },
} satisfies Record<string, ProblemKind>;
