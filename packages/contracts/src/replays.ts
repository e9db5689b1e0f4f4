import { type Static, Type } from "typebox";
import { nextCursor } from "./paging.ts";
import { instant, nullable, requestTime, uuid } from "./wire-types.ts";

export const replayStatuses = ["running", "done", "cancelled"] as const;

export const startReplayBody = Type.Object(
  {
    failures: Type.Optional(Type.Literal(true, { description: "Only failed and expired deliveries" })),
    from: Type.Optional(
      requestTime(
        "Only events at this time or later, including events before the endpoint existed; required unless `failures` is given",
      ),
    ),
    to: Type.Optional(requestTime("Only events before this time; required unless `failures` is given")),
  },
  { additionalProperties: false },
);
export type StartReplayBody = Static<typeof startReplayBody>;

export const replayParams = Type.Object({
  id: uuid("The endpoint's identifier"),
  replayId: uuid("The replay's identifier"),
});

export const replayDto = Type.Object(
  {
    id: uuid("Replay identifier"),
    status: Type.Enum([...replayStatuses], { description: "`done`: all events have been queued again" }),
    failures: Type.Boolean({ description: "Whether only failed and expired deliveries are replayed" }),
    from: nullable(instant("Events at this time or later"), "null: from the beginning"),
    to: instant("Events before this time; never later than `createdAt`"),
    total: Type.Integer({
      minimum: 0,
      description:
        "Number of events to send when the replay was started: counted up to 10,000, above that an estimate. Deliveries in progress at that time aren't counted, but are sent again if they have ended when the replay reaches them, so `done` can exceed it",
    }),
    done: Type.Integer({ minimum: 0, description: "Number of events queued again so far" }),
    createdAt: instant("Started"),
    updatedAt: instant("Last progress, or end"),
  },
  { $id: "ReplayDto", title: "ReplayDto" },
);
export type ReplayDto = Static<typeof replayDto>;

export const replayPage = Type.Object(
  {
    items: Type.Array(Type.Ref("ReplayDto#"), { description: "Newest first" }),
    next: nextCursor,
  },
  { $id: "ReplayPage", title: "ReplayPage" },
);
export type ReplayPage = { items: ReplayDto[]; next: string | null };
