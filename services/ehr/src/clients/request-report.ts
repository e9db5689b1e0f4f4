import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { connectionReports } from "../queues.ts";

/** The data of a job: reports the client for one organisation, or for all that it wasn't reported for. */
export interface ConnectionReport {
  /** The id of the client's row. */
  clientId: string;
  orgAlias?: string;
  /** What an earlier job left. */
  range?: ReportRange;
}

/** Organisations by alias: those after `after`, to the last one or to `until`; for one version of the client. */
export interface ReportRange {
  after: string;
  until?: string;
  version: string;
}

export const reportKeyOf = ({ clientId, orgAlias }: ConnectionReport): string =>
  orgAlias === undefined ? clientId : `${clientId} ${orgAlias}`;

/** Sends a job with the transaction, unless one is queued already. */
export async function requestReport(
  transaction: Transaction<DB>,
  queue: Queue,
  report: ConnectionReport,
): Promise<void> {
  const options = { singletonKey: reportKeyOf(report), db: fromKysely(transaction) };
  await queue.boss().send(connectionReports, report, options);
}
