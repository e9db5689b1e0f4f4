import type { PageQuery, ReplayDto, ReplayPage, StartReplayBody } from "@ehr-marketplace/contracts";
import { invalidRequest, listPage, Problem, parseTime } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { type Change, type EndpointDeps, withEndpoint } from "../endpoints/change-endpoint.ts";
import { getEndpointRow } from "../endpoints/read-endpoints.ts";
import type { IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { replayProblems } from "./replay-errors.ts";
import { deleteStep, scheduleStep } from "./replay-jobs.ts";
import {
  estimateTotal,
  findReplay,
  findReplays,
  findRunning,
  insertReplay,
  lockReplay,
  type ReplayRow,
  updateReplay,
} from "./replay-store.ts";

function parseBound(name: "from" | "to", { [name]: text, failures }: StartReplayBody): Date | undefined {
  if (text === undefined && failures === true) return undefined;
  if (text === undefined) throw invalidRequest(`/body/${name}`, "is required, unless failures is true");
  return parseTime(`/body/${name}`, text);
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

async function recordReplayAudit(
  { transaction, by, now }: Change,
  action: string,
  before: ReplayDto | null,
  after: ReplayDto,
): Promise<void> {
  await recordAudit(transaction, {
    by,
    role: by.role,
    at: now,
    onBehalfOf: onBehalfOf(by),
    action: `webhook-replay.${action}`,
    target: { kind: "webhook-replay", id: after.id },
    before,
    after: { ...after },
  });
}

/** Starts a replay of all events in a time range, also from before the endpoint existed, or of failed deliveries only. A worker runs it. */
export async function startReplay(
  deps: EndpointDeps,
  by: VendorContext,
  endpointId: string,
  input: StartReplayBody,
  repeatable: IdempotentRequest,
): Promise<ReplayDto> {
  const from = parseBound("from", input);
  const to = parseBound("to", input);
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
    await scheduleStep(transaction, deps.queue, replay.id, now);
    const record = replayRecord(replay);
    await recordReplayAudit(change, "start", null, record);
    return record;
  };
  return withEndpoint(deps, by, endpointId, start, repeatable);
}

const replayNotFound = (): Problem => new Problem(replayProblems.notFound, "No replay of this endpoint has that id.");

export async function getReplay(
  database: Kysely<DB>,
  by: VendorContext,
  of: { endpointId: string; replayId: string },
): Promise<ReplayDto> {
  const { id } = await getEndpointRow(database, by, of.endpointId);
  const replay = await findReplay(database, of.replayId);
  if (replay?.recipient_id !== id) throw replayNotFound();
  return replayRecord(replay);
}

export async function listReplays(
  database: Kysely<DB>,
  by: VendorContext,
  endpointId: string,
  query: PageQuery,
): Promise<ReplayPage> {
  const { id } = await getEndpointRow(database, by, endpointId);
  return listPage(query, {
    find: (slice) => findReplays(database, id, slice),
    getTime: (row) => row.created_at,
    toItem: replayRecord,
  });
}

/** Stops a running replay; deliveries that it has queued are sent. Does nothing on a replay that has ended. */
export async function cancelReplay(
  deps: EndpointDeps,
  by: VendorContext,
  of: { endpointId: string; replayId: string },
): Promise<ReplayDto> {
  return withEndpoint(deps, by, of.endpointId, async (change) => {
    const { transaction, row, now } = change;
    const replay = await lockReplay(transaction, of.replayId);
    if (replay?.recipient_id !== row.id) throw replayNotFound();
    const before = replayRecord(replay);
    if (replay.status !== "running") return before;
    await deleteStep(transaction, deps.queue, replay.id);
    const cancelled = replayRecord(
      await updateReplay(transaction, replay.id, { status: "cancelled", updated_at: now }),
    );
    await recordReplayAudit(change, "cancel", before, cancelled);
    return cancelled;
  });
}

function replayRecord(row: ReplayRow): ReplayDto {
  return {
    id: row.id,
    status: row.status as ReplayDto["status"],
    failures: row.kind === "failures",
    from: row.from_at?.toISOString() ?? null,
    to: row.to_at.toISOString(),
    total: row.total,
    done: row.done,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
