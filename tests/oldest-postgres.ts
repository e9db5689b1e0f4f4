// Selects the tests that run again on PostgreSQL 15, the oldest supported version: those that use a database, so a new file is
// repeated unless it is listed here.

export const oldestPostgresTests = ["services/*/src/**/*.test.ts", "packages/service-kit/src/database/*.test.ts"];

/** Use no database. */
export const withoutDatabase = [
  "acting-organisation",
  "any-accepted-url.property",
  "catalog-client",
  "client",
  "client-registrar",
  "client-results",
  "config",
  "connection",
  "delivery-metrics",
  "describe-price",
  "describe-scopes",
  "event",
  "format",
  "installation-cache",
  "launch-url",
  "markdown-html",
  "organisation-slots",
  "parse-client-metadata",
  "production-config",
  "recipient",
  "require-role",
  "retry-schedule",
  "return-to",
  "slots",
  "subscription",
  "tokens",
];

/**
 * Are about requests, random input, caches or other servers; or, like ordering-races and shuffled-events, repeat for half a minute what
 * shorter tests do once. Other tests run the services' SQL statements of these on PostgreSQL 15, which logs of the statements have shown
 * (`log_statement`, with a database name for each file). Tests of locks and of plans don't belong here.
 */
export const independentOfVersion = [
  "any-event.property",
  "block-subscription",
  "callback",
  "callback-name",
  "catalog-cache",
  "config-limit",
  "config-secrecy",
  "confirm-on-demand",
  "confirm-subscriptions",
  "endpoint-name",
  "endpoint-url",
  "error-responses",
  "event-times",
  "forged-apps",
  "forged-events",
  "hostile-input",
  "launch-app",
  "launch-privacy",
  "marketplace-catalog",
  "marketplace-down",
  "marketplace-subscriptions",
  "ordering-races",
  "organisation-header",
  "overload-responses",
  "parse-app",
  "put-config",
  "put-organisation",
  "read-installations",
  "reconcile-forged",
  "refuse-subscription",
  "refused-signature",
  "register-endpoint",
  "shuffled-events",
  "sitemap",
  "storefront-headers",
  "storefront-pages",
  "withdrawn-apps",
];

export const excludedOnOldestPostgres = [
  "**/node_modules/**",
  ...[...withoutDatabase, ...independentOfVersion].map((name) => `**/${name}.test.ts`),
];
