import type { About } from "@ehr-marketplace/service-kit/http";
import { webhookReference } from "./events/webhook-reference.ts";

export const basePath = "/api/v1";

export const apiDescription = {
  title: "EHR Marketplace API",
  version: "1.0.0",
  basePath,
  description: `The application marketplace for electronic health record systems.

Without an account: list, filter, sort and search published apps, and read their prices. With a token: subscribe
organisations to apps, and pause, resume and cancel subscriptions.

- **Errors** are problem documents (RFC 9457). \`code\` is stable; \`type\` links to a page that says how to resolve it.
- **Query parameters**: unknown ones are ignored, one without a value counts as absent, and one given twice is refused.
- **Bodies** are JSON of up to 16 KiB, nested up to 64 levels deep. Unknown fields are refused; \`null\` in an optional field
  counts as absent. Where no body is expected, an empty one is accepted whatever its \`Content-Type\`, and so is \`{}\`.
- **Caching**: responses have an \`ETag\`; send it as \`If-None-Match\` to get 304 while nothing has changed.
- **Retries**: send an \`Idempotency-Key\` with a POST, and it is safe to repeat when no response arrived.
- **Limits**: each address may send 6,000 requests a minute to the catalog, each caller 1,200 to the rest. An organisation
  subscribes to one app at most 30 times a day, and a subscription changes its state at most 30 times an hour,
  operators exempt; its connection changes at most 30 times an hour; its usage is reported at
  most 20 times a second; an endpoint is tested at most 10 times a minute. Above that, the response is 429 with \`Retry-After\`.`,
  tokens:
    "A JWT of the identity provider that the operator configured, with the audience `marketplace`. In the local stack: " +
    "`npm run --silent token -- PERSONA`.",
  tags: [
    { name: "Catalog", description: "Published apps, open to anyone" },
    { name: "Listings", description: "How vendors publish: drafts of their apps, and their checks" },
    { name: "Sandbox", description: "Drafts in sandbox organisations, before anyone reviews them" },
    { name: "Connections", description: "How installed apps sign in: what EHRs report about their OAuth clients" },
    { name: "Reviews", description: "How operators decide which revisions are published" },
    { name: "Apps", description: "How operators feature, suspend and reinstate apps" },
    { name: "Vendors", description: "Vendors, as operators register them" },
    { name: "Subscriptions", description: "An organisation's right to use an app" },
    { name: "Usage", description: "What vendors report of metered apps" },
    { name: "Billing", description: "What subscriptions cost: estimates, limits, statements" },
    { name: "Notices", description: "What people should know or do, and where it is mailed" },
    { name: "Webhooks", description: "Vendors' endpoints, and the log of deliveries" },
    { name: "Events", description: "Events sent to vendors' endpoints and to organisations' EHRs" },
    { name: "Organisations", description: "Organisations that subscribe, and the audit log" },
  ],
  webhooks: webhookReference,
};

/** The index at `/` and at the base path. */
export const about: About = {
  title: apiDescription.title,
  description:
    "An application marketplace for electronic health record systems. Practices find apps and subscribe to them, vendors " +
    "receive signed events, and EHRs install the apps.",
  basePath,
  links: [
    {
      name: "apps",
      href: `${basePath}/apps`,
      title: "Catalog",
      text: "All published apps, open to anyone",
    },
    {
      name: "problems",
      href: "/problems",
      title: "Problems",
      text: "Every error code, and what to do about it",
    },
  ],
};
