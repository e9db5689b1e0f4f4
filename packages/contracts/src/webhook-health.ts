import { type Static, Type } from "typebox";
import { instant, nullable, uuid } from "./wire-types.ts";

const count = (description: string) =>
  Type.Object(
    {
      count: Type.Integer({ minimum: 0, maximum: 10_000 }),
      orMore: Type.Boolean({ description: "Counting ended at 10,000, and there are more" }),
    },
    { description },
  );
const seconds = (description: string) => nullable(Type.Integer({ minimum: 0 }), description);

export const heldEhrDto = Type.Object(
  {
    organisationId: uuid("The organisation"),
    orgAlias: Type.String({ description: "Alias of the organisation whose EHR it is" }),
    heldSince: instant("Since when nothing but a probe goes out"),
    failedProbes: Type.Integer({ minimum: 0 }),
    hasCallback: Type.Boolean({ description: "Without a callback nothing can be sent at all" }),
    oldestDueAt: instant("When the oldest of what waits for it became due"),
  },
  { $id: "HeldEhrDto", title: "HeldEhrDto" },
);
export type HeldEhrDto = Static<typeof heldEhrDto>;

export const webhookHealthDto = Type.Object(
  {
    oldestUndeliveredSeconds: seconds(
      "Age of the oldest delivery that is not over, what waits for held and disabled recipients included; null: there is none",
    ),
    behindSeconds: seconds(
      "For how long the next delivery that could go out has been ready: how far the workers are behind; null: nothing is ready",
    ),
    waiting: count("Deliveries behind another, or to a recipient that is held or disabled"),
    queued: count("Deliveries on their way, or about to be tried again"),
    failedLastDay: count("Deliveries that failed for good, or expired, in the last 24 hours"),
    recipients: Type.Object({
      held: count("Recipients that are held, EHRs without callback included"),
      disabled: count("Endpoints that are disabled"),
    }),
    recentAttempts: Type.Object(
      {
        since: instant("When the first of them went out at the earliest"),
        delivered: Type.Integer({ minimum: 0 }),
        failed: Type.Integer({ minimum: 0 }),
        unknown: Type.Integer({ minimum: 0, description: "Under way, or it is not known how they ended" }),
      },
      { description: "The last hour's; where there were more than 10,000, the newest 10,000" },
    ),
    heldEhrs: Type.Object(
      {
        items: Type.Array(Type.Ref("HeldEhrDto#"), { description: "Held the longest first" }),
        next: nullable(Type.String(), "The `after` of the next page; null: this is the last one"),
      },
      { description: "EHRs that have been held for over an hour while something is due to them" },
    ),
  },
  { $id: "WebhookHealthDto", title: "WebhookHealthDto" },
);
type Health = Static<typeof webhookHealthDto>;
export type WebhookHealthDto = Omit<Health, "heldEhrs"> & { heldEhrs: { items: HeldEhrDto[]; next: string | null } };
