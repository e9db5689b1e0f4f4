import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Transaction } from "kysely";
import { fromKysely, type JobResult, type PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { sandboxLaunchReports } from "../queues.ts";
import type { MarketplaceTokens } from "../reconciliation/marketplace-tokens.ts";
import { sendReport } from "../reconciliation/send-report.ts";

/** The data of a job. It has nothing about the user or the patient. */
export interface LaunchReport {
  orgAlias: string;
  subscriptionId: string;
}

/** Throws if a retry can succeed. */
export type ReportLaunch = (report: LaunchReport) => Promise<"reported" | { refusedWith: number }>;

const batchSize = 10;

/** Sends a job with the transaction of the launch, unless one for the subscription is queued or running. */
export async function requestLaunchReport(
  transaction: Transaction<DB>,
  queue: Queue,
  report: LaunchReport,
): Promise<void> {
  const options = { singletonKey: report.subscriptionId, db: fromKysely(transaction) };
  await queue.boss().send(sandboxLaunchReports, report, options);
}

/** Tells the marketplace that a sandbox app was launched: its vendor sees that the draft works. */
export function createLaunchReporter(marketplaceUrl: string, tokens: MarketplaceTokens): ReportLaunch {
  return async (report) => {
    const status = await sendReport(marketplaceUrl, tokens, {
      method: "POST",
      resource: "sandbox-launches",
      ...report,
    });
    if (status >= 200 && status < 300) return "reported";
    // An operator can correct the token's role and organisations while the job is retried.
    if (status < 400 || status >= 500 || [401, 403, 408, 429].includes(status)) {
      throw new Error(`the marketplace responded with ${status}`);
    }
    return { refusedWith: status };
  };
}

/** Runs the jobs that report launches. A failed one is retried at growing intervals, until the queue's retention ends after a day. */
export async function workLaunchReports(
  boss: PgBoss,
  { reportLaunch, logger }: { reportLaunch: ReportLaunch; logger: Logger },
): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true, pollingIntervalSeconds: 1 } as const;
  const run = async (id: string, report: LaunchReport): Promise<JobResult> => {
    try {
      const result = await reportLaunch(report);
      if (result !== "reported") {
        const { refusedWith: status } = result;
        logger.warn({ ...report, status }, "the marketplace refused the report of a sandbox launch; not retrying");
      }
      return { id, status: "completed" };
    } catch (error) {
      logger.warn(
        { ...report, err: error },
        "failed to report a sandbox launch to the marketplace; the job will retry",
      );
      return { id, status: "failed" };
    }
  };
  await boss.work<LaunchReport, JobResult[], typeof options>(sandboxLaunchReports, options, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => run(id, data))),
  );
}
