export const apiDescription = {
  title: "EHR API",
  version: "1.0.0",
  basePath: "/api",
  description: `Which apps an organisation has, how they are set up, and how they are opened.

- **Every answer** has the same wrapper: \`success\`, \`message\` and \`data\`. Where something failed, \`success\` is false,
  \`message\` says why and \`data\` is null; the HTTP status says what kind of failure it was.
- **The organisation** is the token's. A caller in several names one with \`X-Org-Alias\`.
- **Query parameters**: unknown ones are ignored, one without a value counts as absent, and one given twice is refused.
- **Bodies** are JSON of up to 16 KiB (configurations and events: 64 KiB), nested up to 64 levels deep. Unknown fields are
  refused; \`null\` in an optional field counts as absent. Where no body is expected, an empty one is accepted whatever its
  \`Content-Type\`, and so is \`{}\`.
- **Patients**: no patient's id is ever in a URL, a log line, a trace or a metric.
- **Limits**: each caller may send 1,200 requests a minute; callers with the role \`ehr-service\` have no limit.`,
  tokens:
    "A JWT of the identity provider that the operator configured, with the audience `ehr`. In the local stack: " +
    "`npm run --silent token -- PERSONA`.",
  tags: [
    { name: "Installations", description: "Which apps an organisation has, and how they are set up" },
    { name: "Launches", description: "Opening an app in context" },
    {
      name: "Internal",
      description: "For the marketplace, for the EHR's own backend and for the authorization server",
    },
    { name: "Operations", description: "For whoever runs this service" },
  ],
};
