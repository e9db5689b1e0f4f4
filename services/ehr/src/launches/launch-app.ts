import { isSandboxSlug, type LaunchBody, type LaunchDto } from "@ehr-marketplace/contracts";
import { createBatchWriter, type Database, isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { installationProblems } from "../installations/installation-errors.ts";
import { isMissingPartitionError } from "../partitioned-log.ts";
import type { AppConfirmer } from "../subscriptions/confirm-apps.ts";
import { generateLaunch, hashLaunch, type LaunchType, redeemableForMs } from "./launch.ts";
import { launchProblems } from "./launch-errors.ts";
import { prepareLaunchPartitions } from "./launch-log-retention.ts";
import type { LaunchMetrics } from "./launch-metrics.ts";
import { findStatus, insertLaunches, type Launched, type NewLaunch } from "./launch-store.ts";
import { fhirBaseUrlOf, isBrowserUrl, launchUrlOf } from "./launch-url.ts";
import { requestLaunchReport } from "./report-sandbox-launches.ts";

export interface LaunchDeps {
  database: Database<DB>;
  queue: Queue;
  /** Inserts a launch into the log, in a batch with concurrent launches. */
  insertLaunch: (launch: NewLaunch) => Promise<Launched | undefined>;
  clock: () => Date;
  metrics: LaunchMetrics;
  fhirBaseUrl: string;
  launchLogDays: number;
  confirmer: Pick<AppConfirmer, "confirmOnDemand">;
}

export async function launchApp(
  deps: LaunchDeps,
  caller: Caller,
  app: { orgAlias: string; appSlug: string },
  body: LaunchBody,
): Promise<LaunchDto> {
  const launchedAt = deps.clock();
  const expiresAt = new Date(launchedAt.getTime() + redeemableForMs);
  const launch = generateLaunch();
  const id = uuid();
  const entry: NewLaunch = {
    id,
    ...app,
    launchType: body.launchType,
    user: caller,
    patientId: body.patientId,
    encounterId: body.encounterId,
    launchedAt,
    launchHash: hashLaunch(launch),
    expiresAt,
  };
  const launched = (await logLaunch(deps, entry)) ?? (await confirmAndLogLaunch(deps, entry));
  if (launched === undefined || hasUnusableUrl(launched)) {
    deps.metrics.recordLaunch(body.launchType, "refused");
    throw await explainRefusal(deps, app, launched?.launch_type ?? body.launchType);
  }
  const { launch_type: launchType, launch_url: appUrl } = launched;
  const response = { launchId: id, launchType, launchedAt: launchedAt.toISOString() };
  deps.metrics.recordLaunch(launchType, "launched");
  if (launchType === "native" || appUrl === null) return { ...response, launchUrl: null, expiresAt: null };
  const iss = fhirBaseUrlOf(deps.fhirBaseUrl, app.orgAlias);
  if (launchType === "standalone") return { ...response, launchUrl: launchUrlOf(appUrl, { iss }), expiresAt: null };
  return { ...response, launchUrl: launchUrlOf(appUrl, { iss, launch }), expiresAt: expiresAt.toISOString() };
}

const maxLaunchesPerBatch = 100;

export const createLaunchWriter = ({ query }: Database<DB>): LaunchDeps["insertLaunch"] =>
  createBatchWriter({ maxBatchSize: maxLaunchesPerBatch, write: (launches) => insertLaunches(query, launches) });

/** One invalid launch fails its whole batch, so each launch of a failed batch is retried alone. */
async function logLaunch(deps: LaunchDeps, launch: NewLaunch): Promise<Launched | undefined> {
  const { query } = deps.database;
  const isSandbox = isSandboxSlug(launch.appSlug);
  try {
    return await (isSandbox ? insertSandboxLaunch(deps, launch) : deps.insertLaunch(launch));
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    // The partition of the day is missing after a week without a running process: create it now instead of failing the launch.
    if (isMissingPartitionError(error)) await prepareLaunchPartitions(query, launch.launchedAt);
    if (isSandbox) return insertSandboxLaunch(deps, launch);
    const [launched] = await insertLaunches(query, [launch]);
    return launched;
  }
}

/** The marketplace is told of each launch of a sandbox app, and of no other. */
function insertSandboxLaunch({ database, queue }: LaunchDeps, launch: NewLaunch): Promise<Launched | undefined> {
  return database.query.transaction().execute(async (transaction) => {
    const [launched] = await insertLaunches(transaction, [launch]);
    if (launched !== undefined && !hasUnusableUrl(launched)) {
      const { orgAlias } = launch;
      await requestLaunchReport(transaction, queue, { orgAlias, subscriptionId: launched.subscription_id });
    }
    return launched;
  });
}

/** A new subscription may have to be confirmed with the marketplace first. */
async function confirmAndLogLaunch(deps: LaunchDeps, launch: NewLaunch): Promise<Launched | undefined> {
  const isConfirmed = await deps.confirmer.confirmOnDemand(launch.orgAlias, launch.appSlug);
  return isConfirmed ? logLaunch(deps, launch) : undefined;
}

/** The check constraint accepts some URLs that browsers reject. Such a launch is logged, but fails. */
const hasUnusableUrl = ({ launch_type, launch_url }: Launched): boolean =>
  launch_type !== "native" && !isBrowserUrl(launch_url ?? "");

async function explainRefusal(
  { database }: LaunchDeps,
  { orgAlias, appSlug }: { orgAlias: string; appSlug: string },
  launchType: LaunchType | undefined,
): Promise<Problem> {
  const found = await findStatus(database.query, orgAlias, appSlug);
  if (found === undefined || found.status === "removed") {
    return new Problem(installationProblems.notInstalled, "The app is not installed for this organisation.");
  }
  if (found.status === "paused") {
    return new Problem(launchProblems.paused, "The app is paused for this organisation; it can't be launched.");
  }
  if (launchType !== undefined && launchType !== "native" && !isBrowserUrl(found.smart_launch_url ?? "")) {
    return new Problem(
      launchProblems.noLaunchUrl,
      `The app has no SMART launch URL; it can't be launched as ${launchType}.`,
    );
  }
  return new Problem(launchProblems.paused, "The app was installed or resumed just now; launch it again.");
}
