import type { PageQuery, ReplayDto, ReplayPage, StartReplayBody } from "@ehr-marketplace/contracts";
import { invalidRequest, Problem, pageOf, timeAt } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import { type ActingForVendor, onBehalfOf } from "../../access/acting-for-vendor.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { DB } from "../../database-schema.ts";
import type { Repeatable } from "../../idempotency/once.ts";
import { type Change, type Managing, withEndpoint } from "../endpoints/change-endpoint.ts";
import { endpointOf } from "../endpoints/read-endpoints.ts";
import { replayProblems } from "./replay-errors.ts";
import { dropStep, planStep } from "./replay-jobs.ts";
import { replayRecord } from "./replay-record.ts";
import {
  estimateTotal,
  findReplay,
  findReplays,
  findRunning,
  insertReplay,
  lockReplay,
  updateReplay,
} from "./replay-store.ts";

function timeFrom(name: "from" | "to", { [name]: text, failures }: StartReplayBody): Date | undefined {
  if (text === undefined && failures === true) return undefined;
  if (text === undefined) throw invalidRequest(`/body/${name}`, "is required, unless failures is true");
  return timeAt(`/body/${name}`, text);
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

async function recordDeed(
  { transaction, by, now }: Change,
  action: string,
  before: ReplayDto | null,
  after: ReplayDto,
): Promise<void> {
  await recordAudit(transaction, {
    by,
    as: by.role,
    at: now,
    onBehalfOf: onBehalfOf(by),
    action: `webhook-replay.${action}`,
    target: { kind: "webhook-replay", id: after.id },
    before,
    after: { ...after },
  });
}

/**
 * All that happened in a span of time, also before the endpoint existed, or only what failed, goes out again; a worker sees to it.
 */
export async function startReplay(
  managing: Managing,
  by: ActingForVendor,
  endpointId: string,
  input: StartReplayBody,
  repeatable: Repeatable,
): Promise<ReplayDto> {
  const from = timeFrom("from", input);
  const to = timeFrom("to", input);
  if (from !== undefined && to !== undefined && from >= to) throw invalidRequest("/body/to", "is not later than from");
  const start = async (change: Change): Promise<ReplayDto> => {
    const { transaction, row, now } = change;
    const running = await findRunning(transaction, row.id);
    if (running !== undefined) {
      throw new Problem(replayProblems.underWay, `Replay ${running.id} of this endpoint is running.`);
    }
    const columns = {
      recipient_id: row.id,
      kind: input.failures === true ? "failures" : "range",
      from_at: from ?? null,
      to_at: earlier(to ?? now, now),
      cursor_at: null,
      cursor_id: null,
    };
    const total = await estimateTotal(transaction, columns, row);
    const replay = await insertReplay(transaction, { id: uuid(), ...columns, total, created_at: now, updated_at: now });
    await planStep(transaction, managing.queue, replay.id, now);
    const record = replayRecord(replay);
    await recordDeed(change, "start", null, record);
    return record;
  };
  return withEndpoint(managing, by, endpointId, start, repeatable);
}

const noReplay = (): Problem => new Problem(replayProblems.notFound, "No replay of this endpoint has that id.");

export async function getReplay(
  database: Kysely<DB>,
  by: ActingForVendor,
  of: { endpointId: string; replayId: string },
): Promise<ReplayDto> {
  const { id } = await endpointOf(database, by, of.endpointId);
  const replay = await findReplay(database, of.replayId);
  if (replay?.recipient_id !== id) throw noReplay();
  return replayRecord(replay);
}

export async function listReplays(
  database: Kysely<DB>,
  by: ActingForVendor,
  endpointId: string,
  query: PageQuery,
): Promise<ReplayPage> {
  const { id } = await endpointOf(database, by, endpointId);
  return pageOf(query, {
    find: (slice) => findReplays(database, id, slice),
    timeOf: (row) => row.created_at,
    itemOf: replayRecord,
  });
}

/** It goes no further; what it has queued goes out. One that is over stays as it is. */
export async function cancelReplay(
  managing: Managing,
  by: ActingForVendor,
  of: { endpointId: string; replayId: string },
): Promise<ReplayDto> {
  return withEndpoint(managing, by, of.endpointId, async (change) => {
    const { transaction, row, now } = change;
    const replay = await lockReplay(transaction, of.replayId);
    if (replay?.recipient_id !== row.id) throw noReplay();
    const before = replayRecord(replay);
    if (replay.status !== "running") return before;
    await dropStep(transaction, managing.queue, replay.id);
    const cancelled = replayRecord(
      await updateReplay(transaction, replay.id, { status: "cancelled", updated_at: now }),
    );
    await recordDeed(change, "cancel", before, cancelled);
    return cancelled;
  });
}
