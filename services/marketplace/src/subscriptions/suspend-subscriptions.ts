import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import { type Author, recordAudits } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { recordEvents } from "../events/record-event.ts";
import { type NewNotice, subscriptionPage } from "../notices/notice.ts";
import { recordNotices } from "../notices/record-notice.ts";
import { type Command, decide } from "./subscription.ts";
import { auditedState, columnsOf, stateOf } from "./subscription-record.ts";
import {
  type BatchCursor,
  countActive,
  countPausedBy,
  findActive,
  findPausedBy,
  type LockedOfBatch,
  lockBatch,
  updateBatch,
} from "./subscription-store.ts";

export interface SuspensionBatch {
  suspensionId: string;
  appId: string;
  /** The operator whose command is carried out. */
  by: Author;
  after: BatchCursor | undefined;
  limit: number;
  now: Date;
}

export interface BatchResult {
  changed: number;
  cursor: BatchCursor | undefined;
  /** There are no more subscriptions after the cursor. */
  isDone: boolean;
}

/** How many active subscriptions the suspension has to pause, and how many it has paused already. */
export async function countToPause(
  database: Kysely<DB>,
  { appId, suspensionId }: Pick<SuspensionBatch, "appId" | "suspensionId">,
): Promise<{ active: number; paused: number }> {
  return { active: await countActive(database, appId), paused: await countPausedBy(database, suspensionId) };
}

/** Pauses the app's next active subscriptions. Those that are paused for another reason stay as they are. */
export async function pauseNext(
  transaction: Transaction<DB>,
  queue: Queue,
  batch: SuspensionBatch,
): Promise<BatchResult> {
  const candidates = await findActive(transaction, batch.appId, batch);
  const command: Command = { do: "pause", reason: "SECURITY" };
  return changeBatch(transaction, queue, { ...batch, command, candidates, suspension_id: batch.suspensionId });
}

/** Resumes the next subscriptions that the suspension has paused. */
export async function resumeNext(
  transaction: Transaction<DB>,
  queue: Queue,
  batch: SuspensionBatch,
): Promise<BatchResult> {
  const candidates = await findPausedBy(transaction, batch.suspensionId, batch);
  const isPausedByIt = ({ row }: LockedOfBatch): boolean => row.suspension_id === batch.suspensionId;
  return changeBatch(transaction, queue, {
    ...batch,
    command: { do: "resume" },
    candidates,
    suspension_id: null,
    isIncluded: isPausedByIt,
  });
}

interface BatchChange extends SuspensionBatch {
  command: Command;
  candidates: BatchCursor[];
  suspension_id: string | null;
  isIncluded?: (locked: LockedOfBatch) => boolean;
}

/** Applies the command to those of the candidates that it still changes once they are locked, with events and audit entries. */
async function changeBatch(transaction: Transaction<DB>, queue: Queue, batch: BatchChange): Promise<BatchResult> {
  const { candidates, command, limit, now } = batch;
  const locked = await lockBatch(
    transaction,
    candidates.map(({ id }) => id),
  );
  const changes = locked.filter(batch.isIncluded ?? (() => true)).flatMap(({ row, app, vendorId }) => {
    const decision = decide(stateOf(row), command);
    if (decision.outcome !== "changed" || decision.event === null) return [];
    const at = nextInstant(now, row.updated_at);
    const { suspension_id } = batch;
    const columns = { ...columnsOf(decision.state, row, at), revision: row.revision + 1, suspension_id };
    return { row, app, vendorId, at, columns, event: decision.event, status: decision.state.status };
  });
  if (changes.length > 0) {
    await updateBatch(
      transaction,
      changes.map(({ row, columns }) => ({ id: row.id, ...columns })),
    );
    await recordEvents(
      transaction,
      queue,
      changes.map(({ row, app, vendorId, at, columns, event, status }) => ({
        event,
        app,
        subscription: { id: row.id, status, orgAlias: row.org_alias },
        pauseReason: columns.pause_reason,
        organisationId: row.organisation_id,
        vendorId,
        sequence: columns.revision,
        occurredAt: at,
      })),
    );
    await recordNotices(
      transaction,
      changes.map(({ row, app, at, columns }) =>
        noticeOf(command, { ...row, revision: columns.revision }, app.name, at),
      ),
    );
    await recordAudits(
      transaction,
      changes.map(({ row, at, columns }) => ({
        by: batch.by,
        role: "operator",
        at,
        onBehalfOf: row.org_alias,
        action: `subscription.${command.do}`,
        target: { kind: "subscription", id: row.id },
        before: auditedState(row),
        after: auditedState({ ...row, ...columns }),
      })),
    );
  }
  return {
    changed: changes.length,
    cursor: candidates.at(-1) ?? batch.after,
    isDone: candidates.length < limit,
  };
}

/** The reason is not in it: it was written for others. */
const noticeOf = (
  { do: command }: Command,
  subscription: { id: string; organisation_id: string; org_alias: string; revision: number },
  appName: string,
  at: Date,
): NewNotice => ({
  audience: { organisationId: subscription.organisation_id },
  kind: "app-suspended",
  ...(command === "pause"
    ? {
        severity: "critical",
        subject: `${appName} is suspended, and your subscription is paused`,
        detail:
          "The marketplace suspended the app for security reasons, so it doesn't work in your EHR. Your settings are kept, and your subscription resumes when the app is reinstated.",
      }
    : {
        severity: "info",
        subject: `${appName} is reinstated, and your subscription is active again`,
        detail: "Your practice can use it again. There is nothing to do.",
      }),
  link: subscriptionPage(subscription.org_alias, subscription.id),
  key: `app-suspended:${subscription.id}:${subscription.revision}`,
  at,
});
