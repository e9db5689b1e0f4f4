import { type Static, Type } from "typebox";
import { nextCursor } from "./paging.ts";
import { instant, nullable, uuid } from "./wire-types.ts";

const count = (description: string) =>
  Type.Object(
    {
      count: Type.Integer({ minimum: 0, maximum: 10_000 }),
      orMore: Type.Boolean({ description: "Whether there are more; counting stops at 10,000" }),
    },
    { description },
  );
const seconds = (description: string) => nullable(Type.Integer({ minimum: 0 }), description);

export const heldEhrDto = Type.Object(
  {
    organisationId: uuid("The organisation"),
    orgAlias: Type.String({ description: "The organisation's alias" }),
    heldSince: instant("Since when only probes are sent"),
    failedProbes: Type.Integer({ minimum: 0 }),
    hasCallback: Type.Boolean({
      description: "Whether the organisation has a callback; without one nothing can be sent",
    }),
    oldestDueAt: instant("When the oldest waiting delivery became due"),
  },
  { $id: "HeldEhrDto", title: "HeldEhrDto" },
);
export type HeldEhrDto = Static<typeof heldEhrDto>;

export const heldOriginDto = Type.Object(
  {
    origin: Type.String({ description: "Scheme, host and port of the callbacks" }),
    heldSince: instant("Since when only probes are sent"),
    failedProbes: Type.Integer({ minimum: 0 }),
    organisations: count("Organisations with a callback of this origin"),
  },
  { $id: "HeldOriginDto", title: "HeldOriginDto" },
);
export type HeldOriginDto = Static<typeof heldOriginDto>;

export const webhookHealthDto = Type.Object(
  {
    oldestUndeliveredSeconds: seconds(
      "Age of the oldest delivery without a final status, including those to held and disabled recipients; null if there is none",
    ),
    behindSeconds: seconds(
      "How long the next sendable delivery has been ready, which is the workers' lag; null if none is ready",
    ),
    waiting: count(
      "Deliveries behind an earlier one, or to a recipient that is held or disabled, or whose origin is held",
    ),
    queued: count("Deliveries being sent, or scheduled for a retry"),
    failedLastDay: count("Deliveries that failed permanently or expired in the last 24 hours"),
    recipients: Type.Object({
      held: count(
        "Held recipients, including organisations without a callback, which the metric `webhook_recipients_held` doesn't count. EHRs that are held only with their host are not included.",
      ),
      disabled: count("Disabled endpoints, without deleted ones"),
    }),
    recentAttempts: Type.Object(
      {
        since: instant("Earliest possible start of the first of these attempts"),
        delivered: Type.Integer({ minimum: 0 }),
        failed: Type.Integer({ minimum: 0 }),
        unknown: Type.Integer({ minimum: 0, description: "In progress, or with an unrecorded result" }),
      },
      { description: "Attempts of the last hour, at most the newest 10,000" },
    ),
    heldEhrs: Type.Object(
      {
        items: Type.Array(Type.Ref("HeldEhrDto#"), { description: "Longest held first" }),
        next: nextCursor,
      },
      {
        description:
          "EHRs that have been held by themselves for over an hour and have due deliveries; `limit` and `after` apply to them. EHRs of a held host are not listed: the host is in `heldOrigins`.",
      },
    ),
    heldOrigins: Type.Array(Type.Ref("HeldOriginDto#"), {
      maxItems: 100,
      description:
        "Hosts (scheme, host and port) that can't be reached, longest held first, at most 100. Nothing is sent to the EHRs of such a host except one probe a minute.",
    }),
  },
  { $id: "WebhookHealthDto", title: "WebhookHealthDto" },
);
type Health = Static<typeof webhookHealthDto>;
export type WebhookHealthDto = Omit<Health, "heldEhrs" | "heldOrigins"> & {
  heldEhrs: { items: HeldEhrDto[]; next: string | null };
  heldOrigins: HeldOriginDto[];
};
