import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const launchProblems = {
  paused: {
    code: "installation-paused",
    status: 409,
    title: "The installation is paused",
    advice: "Resume the subscription in the marketplace, then launch the app again.",
  },
  noLaunchUrl: {
    code: "no-launch-url",
    status: 422,
    title: "The app has no SMART launch URL",
    advice: "Launch it with the launchType `native`, or leave launchType out.",
  },
  gone: {
    code: "launch-gone",
    status: 410,
    title: "The launch can't be redeemed",
    advice: "Launch the app again.",
  },
} satisfies Record<string, ProblemKind>;
