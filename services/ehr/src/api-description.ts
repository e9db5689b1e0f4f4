import type { About } from "@ehr-marketplace/service-kit/http";
import { success } from "./responses.ts";

export const apiDescription = {
  title: "EHR API",
  version: "1.0.0",
  basePath: "/api",
  description: `Lists, configures and launches the apps that an organisation has installed.

- **Every response** has the same wrapper: \`success\`, \`message\` and \`data\`. In an error response \`success\` is false,
  \`message\` gives the reason and \`data\` is null; the HTTP status gives the kind of error.
- **The organisation** is the token's. A caller with several organisations names one with \`X-Org-Alias\`.
- **Query parameters**: unknown ones are ignored, one without a value counts as absent, and one given twice is rejected.
- **Bodies** are JSON of up to 16 KiB (configurations and events: 64 KiB), nested up to 64 levels deep. Unknown fields are
  rejected; \`null\` in an optional field counts as absent. Where no body is expected, an empty one is accepted whatever its
  \`Content-Type\`, and so is \`{}\`.
- **Patients**: no patient's id is ever in a URL, a log line, a trace or a metric.
- **Limits**: each caller may send 1,200 requests a minute; callers with the role \`ehr-service\`, and
  \`GET /api/internal/app-clients\`, have no limit.`,
  tokens:
    "A JWT of the identity provider that the operator configured, with the audience `ehr`. In the local stack: " +
    "`npm run --silent token -- PERSONA`.",
  tags: [
    { name: "Installations", description: "An organisation's installed apps and their configurations" },
    { name: "Launches", description: "Launching an app in the context of a patient and an encounter" },
    {
      name: "Internal",
      description: "For the marketplace, for the EHR's own backend and for the authorization server",
    },
    { name: "Operations", description: "For operators of this service" },
  ],
};

/** The index at `/` and at the base path. */
export const about: About = {
  title: apiDescription.title,
  description:
    "Runs apps in a practice's electronic health record system: installs those that the practice subscribes to, stores " +
    "their configurations, and launches them in a patient's context.",
  basePath: apiDescription.basePath,
  links: [],
  wrap: (index) => success("This is the EHR API.", index),
};
