import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { ClientState } from "./client.ts";
import type { Management } from "./client-results.ts";
import { type ClientRow, updateClient } from "./client-store.ts";
import { requestReport } from "./request-report.ts";
import { columnsOf, isReportChanged, newVersion, stateOf } from "./stored-client.ts";

export interface StoreDeps {
  queue: Queue;
  clock: () => Date;
  encryption: Encryption;
  /** Whether connections are reported to the marketplace. */
  reports: boolean;
}

/** Stores a state and, if organisations and vendors have to be told, requests the reports. */
export async function storeState(
  { encryption, clock, queue, reports }: StoreDeps,
  transaction: Transaction<DB>,
  row: ClientRow,
  next: ClientState,
  management?: Management,
): Promise<void> {
  const isReported = isReportChanged(stateOf(row), next);
  const changes = { ...columnsOf(encryption, row, next, management), updated_at: clock() };
  await updateClient(transaction, row.id, isReported ? { ...changes, version: newVersion() } : changes);
  if (isReported && reports) await requestReport(transaction, queue, { clientId: row.id });
}
