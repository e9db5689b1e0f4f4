import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { fhirBaseUrlOf } from "../launches/launch-url.ts";
import { connectionReports } from "../queues.ts";
import type { MarketplaceTokens } from "../reconciliation/marketplace-tokens.ts";
import { MarketplaceRefusalError } from "../reconciliation/reconciliation-errors.ts";
import { sendReport } from "../reconciliation/send-report.ts";
import { type ClientRow, findClient } from "./client-store.ts";
import { type Connection, connectionOf } from "./connection.ts";
import { findUnreported, markReported, type UnreportedInstallation } from "./connection-report-store.ts";
import { type ConnectionReport, type ReportRange, reportKeyOf } from "./request-report.ts";
import { stateOf } from "./stored-client.ts";

/** Returns the status of the marketplace's response. */
export type PutConnection = (
  installation: Pick<UnreportedInstallation, "orgAlias" | "subscriptionId">,
  connection: Connection,
) => Promise<number>;

export interface ReportDeps {
  database: Kysely<DB>;
  logger: Logger;
  putConnection: PutConnection;
}

const pageSize = 100;
const maxConcurrent = 8;
/** A job ends before it expires; another one reports the rest. */
const maxPagesPerJob = 20;
const batchSize = 2;
const retryFailedAfterSeconds = 5;

/** Tells the marketplace, and with it the app's vendor, how the app signs in at this EHR. */
export function createConnectionReporter(
  marketplaceUrl: string,
  tokens: MarketplaceTokens,
  fhirBaseUrl: string,
): PutConnection {
  return ({ orgAlias, subscriptionId }, connection) => {
    const body = { ...connection, fhirBaseUrl: fhirBaseUrlOf(fhirBaseUrl, orgAlias) };
    return sendReport(marketplaceUrl, tokens, {
      method: "PUT",
      orgAlias,
      subscriptionId,
      resource: "connection",
      body,
    });
  };
}

/** Runs the jobs that report connections. A failed one is retried at growing intervals, for what is not reported yet. */
export async function workConnectionReports(boss: PgBoss, deps: ReportDeps): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<ConnectionReport, JobResult[], typeof options>(connectionReports, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }): Promise<JobResult> => {
        try {
          const { isUnfinished, rest, failed } = await reportConnections(deps, data);
          const key = reportKeyOf(data);
          if (rest !== undefined) await boss.send(connectionReports, { ...data, range: rest }, { singletonKey: key });
          if (failed !== undefined) {
            const later = { singletonKey: `${key} ${failed.after}`, startAfter: retryFailedAfterSeconds };
            await boss.send(connectionReports, { ...data, range: failed }, later);
          }
          return { id, status: isUnfinished ? "failed" : "completed" };
        } catch (error) {
          deps.logger.warn(
            { ...data, err: error },
            "failed to report connections to the marketplace; the job will retry",
          );
          return { id, status: "failed" };
        }
      }),
    ),
  );
}

export interface ReportResult {
  /** The job has to be repeated. */
  isUnfinished: boolean;
  /** What the job didn't come to. */
  rest?: ReportRange;
  /** The part with failures, if there is a rest: the rest doesn't wait for their retries. */
  failed?: ReportRange;
}

/** Reports a client for the installations that it wasn't reported for. */
export async function reportConnections(
  deps: ReportDeps,
  { clientId, orgAlias, range }: ConnectionReport,
): Promise<ReportResult> {
  const { database } = deps;
  const current = await findClient(database, clientId);
  if (current === undefined) return { isUnfinished: false };
  const { version } = current;
  // A queued job for the rest suppresses that of a later version, so it starts over.
  const start = range === undefined || (range.until === undefined && range.version !== version) ? "" : range.after;
  let [after, isUnfinished, isAvailable] = [start, false, false];
  for (let page = 0; page < maxPagesPerJob; page += 1) {
    // Read for each page: the state may change while thousands of practices are reported.
    const row = await findClient(database, clientId);
    // Another version has a job of its own, which starts at the first organisation.
    if (row?.version !== version) return { isUnfinished };
    const client = { appSlug: row.app_slug, orgAlias: row.org_alias ?? orgAlias ?? null, version };
    const installations = await findUnreported(database, client, after, pageSize, range?.until);
    const last = installations.at(-1);
    if (last === undefined) return { isUnfinished };
    const result = await reportPage(deps, row, installations);
    isUnfinished ||= !result.isReported;
    isAvailable ||= result.isAvailable;
    after = last.orgAlias;
  }
  // While the marketplace is unavailable, the rest waits.
  if (!isAvailable) return { isUnfinished: true };
  const rest = { ...range, after, version };
  return isUnfinished
    ? { isUnfinished: false, rest, failed: { after: start, until: after, version } }
    : { isUnfinished: false, rest };
}

/** `isAvailable`: some were reported or refused. */
async function reportPage(
  { database, logger, putConnection }: ReportDeps,
  row: ClientRow,
  installations: UnreportedInstallation[],
): Promise<{ isReported: boolean; isAvailable: boolean }> {
  const connection = connectionOf(stateOf(row));
  const reported: UnreportedInstallation[] = [];
  let isAvailable = false;
  const report = async (installation: UnreportedInstallation): Promise<void> => {
    const { orgAlias, subscriptionId } = installation;
    try {
      const status = await putConnection(installation, connection);
      isAvailable ||= status < 500 && status !== 429;
      // A subscription that the marketplace doesn't know, or that has ended, has no connection.
      if ((status >= 200 && status < 300) || status === 404 || status === 409) reported.push(installation);
      else
        logger.warn(
          { orgAlias, subscriptionId, status },
          "the marketplace refused the report of a connection; the job will retry",
        );
    } catch (error) {
      const reason = error instanceof MarketplaceRefusalError ? error.message : undefined;
      isAvailable ||= reason !== undefined;
      const fields = reason === undefined ? { err: error } : { reason };
      logger.warn({ orgAlias, subscriptionId, ...fields }, "failed to report a connection; the job will retry");
    }
  };
  for (let at = 0; at < installations.length; at += maxConcurrent) {
    await Promise.all(installations.slice(at, at + maxConcurrent).map(report));
  }
  const isCurrent = await markReported(database, { clientId: row.id, version: row.version }, reported);
  return { isReported: isCurrent && reported.length === installations.length, isAvailable };
}
