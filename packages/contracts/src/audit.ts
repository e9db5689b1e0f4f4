import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, requestTime, uuid } from "./wire-types.ts";

const state = nullable(Type.Object({}, { additionalProperties: true }), "State of the object, without secrets");

export const auditEntry = Type.Object(
  {
    id: uuid("The entry's identifier"),
    at: instant("When it happened"),
    actor: Type.Object(
      {
        issuer: Type.String({ description: "Issuer of the token" }),
        subject: Type.String(),
        role: Type.String({ description: "The role that permitted the action" }),
      },
      { description: "The caller" },
    ),
    onBehalfOf: Type.String({
      description:
        "The organisation that the action concerns; for a vendor, `vendor:` and its slug; for the synonyms of search, `marketplace:search`; for notices to operators, `marketplace:notices`",
    }),
    action: Type.String({ description: "The action", examples: ["subscription.cancel"] }),
    target: Type.Object(
      { kind: Type.String({ examples: ["subscription"] }), id: Type.String() },
      { description: "The object of the action" },
    ),
    requestId: Type.String({ description: "The request's id, as in `X-Request-Id` of the response" }),
    before: state,
    after: state,
  },
  { $id: "AuditEntry", title: "AuditEntry" },
);
export type AuditEntry = Static<typeof auditEntry>;

export const auditPage = Type.Object(
  {
    items: Type.Array(Type.Ref("AuditEntry#"), { description: "Newest first" }),
    next: nextCursor,
  },
  { $id: "AuditPage", title: "AuditPage" },
);
export type AuditPage = { items: AuditEntry[]; next: string | null };

/** Lists the actions in a description. It isn't an enum, so that a new action is no breaking change. */
export const describeActionFilter = (actions: string[]): string =>
  `Only entries with this action, one of ${actions.map((action) => `\`${action}\``).join(", ")}. Any other text has no entries`;

const subscriptionActions = [
  "create",
  "cancel",
  "pause",
  "resume",
  "consent",
  "change-terms",
  "set-spend-limit",
  "remove-spend-limit",
  "credit",
  "lift-block",
  "install-draft",
];
const endpointActions = [
  "register",
  "change",
  "delete",
  "rotate-secret",
  "promote-secret",
  "enable",
  "test",
  "redeliver",
];
const actions = [
  "organisation.register",
  "organisation.change",
  ...subscriptionActions.map((action) => `subscription.${action}`),
  "connection.report",
  "usage.report",
  "notice-settings.change",
  ...endpointActions.map((action) => `webhook-endpoint.${action}`),
  "webhook-replay.start",
  "webhook-replay.cancel",
  "search-synonyms.change",
  "vendor.register",
  "vendor.change",
  "listing.create",
  "listing.edit",
  "listing.delete",
  "media.upload",
  "media.purge",
  "listing.submit",
  "listing.withdraw",
  "listing.unpublish",
  "listing.republish",
  "listing.sandbox-launch",
  "review.approve",
  "review.reject",
  "app.feature",
  "app.unfeature",
  "app.suspend",
  "app.reinstate",
];

const action = Type.String({
  maxLength: 100,
  pattern: noNulPattern,
  description: describeActionFilter(actions),
  examples: ["subscription.cancel"],
});
const from = requestTime("Only entries at this time or later");
const to = requestTime("Only entries before this time");

export const readAuditQuery = Type.Object({
  ...pageQuery.properties,
  action: Type.Optional(action),
  targetId: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: noNulPattern,
      description:
        "Only entries about this object (`target.id`), such as a subscription's id. Any other text has no entries",
      examples: ["0190a5d2-ac96-774b-bcce-b302099a8057"],
    }),
  ),
  from: Type.Optional(from),
  to: Type.Optional(to),
});
export type ReadAuditQuery = Static<typeof readAuditQuery> & PageQuery;

export const listAuditQuery = Type.Object({
  ...pageQuery.properties,
  actor: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: noNulPattern,
      description: "Only actions of this subject (`actor.subject`)",
    }),
  ),
  action: Type.Optional(action),
  from: Type.Optional(from),
  to: Type.Optional(to),
});
export type ListAuditQuery = Static<typeof listAuditQuery> & PageQuery;
