import { type Static, Type } from "typebox";
import { instant, nullable, requestTime, uuid } from "./wire-types.ts";

export const replayStatuses = ["running", "done", "cancelled"] as const;

export const startReplayBody = Type.Object(
  {
    failures: Type.Optional(
      Type.Literal(true, { description: "Only what has failed or expired, not what was delivered" }),
    ),
    from: Type.Optional(
      requestTime(
        "Only what happened at this time or later, also before the endpoint existed; needed unless `failures` is given",
      ),
    ),
    to: Type.Optional(requestTime("Only what happened before this time; needed unless `failures` is given")),
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
    status: Type.Enum([...replayStatuses], { description: "`done`: all of it has been queued again" }),
    failures: Type.Boolean({ description: "Whether it leaves out what was delivered" }),
    from: nullable(instant("What happened at this time or later"), "null: from the beginning"),
    to: instant("What happened before this time; never later than `createdAt`"),
    total: Type.Integer({
      minimum: 0,
      description: "How many there were when it was started: exact up to 10,000, above that an estimate",
    }),
    done: Type.Integer({ minimum: 0, description: "How many have been queued again so far" }),
    createdAt: instant("Started"),
    updatedAt: instant("When it last went on, or ended"),
  },
  { $id: "ReplayDto", title: "ReplayDto" },
);
export type ReplayDto = Static<typeof replayDto>;

export const replayPage = Type.Object(
  {
    items: Type.Array(Type.Ref("ReplayDto#"), { description: "The newest first" }),
    next: nullable(Type.String(), "The `after` of the next page; null: this is the last one"),
  },
  { $id: "ReplayPage", title: "ReplayPage" },
);
export type ReplayPage = { items: ReplayDto[]; next: string | null };
