import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const installationProblems = {
  notInstalled: {
    code: "not-installed",
    status: 404,
    title: "The app is not installed",
    advice: "Subscribe to it in the marketplace. `GET /api/app-installations` lists the installed apps.",
  },
  configurationsTooLarge: {
    code: "configurations-too-large",
    status: 422,
    title: "The organisation's configurations are too large in total",
    advice:
      "Shorten this configuration or those of other apps. The limit for all configurations of an organisation is 1 MiB, encrypted.",
  },
  schemaUnusable: {
    code: "schema-unusable",
    status: 422,
    title: "The app's configuration can't be validated",
    advice: "The schema that the app's vendor published is outside the supported profile. Tell the vendor.",
  },
} satisfies Record<string, ProblemKind>;

/** The problem is the same whether the app doesn't exist or the organisation hasn't installed it. */
export const notInstalled = (): Problem =>
  new Problem(installationProblems.notInstalled, "No app with that slug is installed for the organisation.");
