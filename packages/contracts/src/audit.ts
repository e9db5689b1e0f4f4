import { type Static, Type } from "typebox";
import { withoutNul } from "./catalog-requests.ts";
import { type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, requestTime, uuid } from "./wire-types.ts";

const state = nullable(Type.Object({}, { additionalProperties: true }), "What it was like; secrets are left out");

export const auditEntry = Type.Object(
  {
    id: uuid("The entry's identifier"),
    at: instant("When it happened"),
    actor: Type.Object(
      {
        issuer: Type.String({ description: "Who vouches for the subject" }),
        subject: Type.String(),
        role: Type.String({ description: "The role that allowed it" }),
      },
      { description: "Who did it" },
    ),
    onBehalfOf: Type.String({
      description: "The organisation whose affair it is; `vendor:` and the slug where it is a vendor's",
    }),
    action: Type.String({ description: "What was done", examples: ["subscription.cancel"] }),
    target: Type.Object(
      { kind: Type.String({ examples: ["subscription"] }), id: Type.String() },
      { description: "What it was done to" },
    ),
    requestId: Type.String({ description: "The request's id, as the answer's `X-Request-Id` had it" }),
    before: state,
    after: state,
  },
  { $id: "AuditEntry", title: "AuditEntry" },
);
export type AuditEntry = Static<typeof auditEntry>;

export const auditPage = Type.Object(
  {
    items: Type.Array(Type.Ref("AuditEntry#"), { description: "The newest first" }),
    next: nullable(Type.String(), "The `after` of the next page; null: this is the last one"),
  },
  { $id: "AuditPage", title: "AuditPage" },
);
export type AuditPage = { items: AuditEntry[]; next: string | null };

export const listAuditQuery = Type.Object({
  ...pageQuery.properties,
  actor: Type.Optional(
    Type.String({ maxLength: 255, pattern: withoutNul, description: "Only what this subject (`actor.subject`) did" }),
  ),
  action: Type.Optional(
    Type.String({ maxLength: 100, pattern: withoutNul, description: "Only this", examples: ["subscription.cancel"] }),
  ),
  from: Type.Optional(requestTime("Only what happened at this time or later")),
  to: Type.Optional(requestTime("Only what happened before this time")),
});
export type ListAuditQuery = Static<typeof listAuditQuery> & PageQuery;
