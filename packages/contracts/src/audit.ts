import { type Static, Type } from "typebox";
import { instant, nullable, uuid } from "./wire-types.ts";

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
    onBehalfOf: Type.String({ description: "The organisation whose affair it is" }),
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
