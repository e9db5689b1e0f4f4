import { webhookReference } from "./webhooks/events/webhook-reference.ts";

export const basePath = "/api/v1";

export const apiDescription = {
  title: "EHR Marketplace API",
  version: "1.0.0",
  basePath,
  description: `The application marketplace for electronic health record systems.

Browse what is published without an account: list, filter, sort and search apps, and read their prices. With a token,
subscribe organisations to apps, and pause, resume and cancel what they subscribed to.

- **Errors** are problem documents (RFC 9457). \`code\` is stable; \`type\` leads to a page that says what to do.
- **Query parameters**: unknown ones are ignored, one without a value counts as absent, and one given twice is refused.
- **Bodies** are JSON of up to 16 KiB, nested up to 64 levels deep. Unknown fields are refused; \`null\` in an optional field
  counts as absent. Where no body is expected, an empty one is accepted whatever its \`Content-Type\`, and so is \`{}\`.
- **Caching**: answers carry an \`ETag\`; send it back as \`If-None-Match\` and an unchanged answer costs you nothing.
- **Repeating**: send an \`Idempotency-Key\` with a POST, and repeat it without fear when no answer came.
- **Limits**: each address may send 6,000 requests a minute to the catalog, each caller 1,200 to the rest. An organisation
  subscribes to one app at most 30 times an hour, and a subscription changes its state at most 30 times an hour,
  operators exempt; an endpoint is tested at most 10 times a minute. Above that, 429 tells when to come back.`,
  tokens:
    "A JWT of the identity provider that the operator configured, with the audience `marketplace`. In the local stack: " +
    "`npm run --silent token -- PERSONA`.",
  tags: [
    { name: "Catalog", description: "What anyone may browse" },
    { name: "Subscriptions", description: "An organisation's right to use an app" },
    { name: "Webhooks", description: "Where vendors want to hear, and what became of every delivery" },
    { name: "Events", description: "What is posted to vendors' endpoints and to organisations' EHRs" },
    { name: "Organisations", description: "Who subscribes, and what was changed by whom" },
  ],
  webhooks: webhookReference,
};
