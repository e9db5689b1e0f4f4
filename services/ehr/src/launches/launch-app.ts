import type { LaunchBody, LaunchDto } from "@ehr-marketplace/contracts";
import { type Database, isDatabaseAway, writeTogether } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import type { AppConfirmer } from "../installations/confirm-apps.ts";
import { installationProblems } from "../installations/installation-errors.ts";
import { isWithoutPartition } from "../partitioned-log.ts";
import { hashOf, type LaunchType, newLaunch, redeemableForMs } from "./launch.ts";
import { launchProblems } from "./launch-errors.ts";
import type { LaunchMetrics } from "./launch-metrics.ts";
import { findStatus, insertLaunches, type Launched, type NewLaunch } from "./launch-store.ts";
import { fhirBaseUrlOf, launchUrlOf, opensInBrowsers } from "./launch-url.ts";
import { prepareLaunchPartitions } from "./prepare-partitions.ts";

export interface Launching {
  database: Database<DB>;
  /** Writes a launch to the log, with those that come at the same time. */
  log: (launch: NewLaunch) => Promise<Launched | undefined>;
  clock: () => Date;
  metrics: LaunchMetrics;
  fhirBaseUrl: string;
  launchLogDays: number;
  confirmer: Pick<AppConfirmer, "confirmOnDemand">;
}

export async function launchApp(
  launching: Launching,
  caller: Caller,
  app: { orgAlias: string; appSlug: string },
  asked: LaunchBody,
): Promise<LaunchDto> {
  const launchedAt = launching.clock();
  const expiresAt = new Date(launchedAt.getTime() + redeemableForMs);
  const launch = newLaunch();
  const id = uuid();
  const entry: NewLaunch = {
    id,
    ...app,
    launchType: asked.launchType,
    user: caller,
    patientId: asked.patientId,
    encounterId: asked.encounterId,
    launchedAt,
    launchHash: hashOf(launch),
    expiresAt,
  };
  const launched = (await logged(launching, entry)) ?? (await confirmedAndLogged(launching, entry));
  if (launched === undefined || isAstray(launched)) {
    launching.metrics.launched(asked.launchType, "refused");
    throw await whyNot(launching, app, launched?.launch_type ?? asked.launchType);
  }
  const { launch_type: launchType, launch_url: appUrl } = launched;
  const answer = { launchId: id, launchType, launchedAt: launchedAt.toISOString() };
  launching.metrics.launched(launchType, "launched");
  if (launchType === "native" || appUrl === null) return { ...answer, launchUrl: null, expiresAt: null };
  const iss = fhirBaseUrlOf(launching.fhirBaseUrl, app.orgAlias);
  if (launchType === "standalone") return { ...answer, launchUrl: launchUrlOf(appUrl, { iss }), expiresAt: null };
  return { ...answer, launchUrl: launchUrlOf(appUrl, { iss, launch }), expiresAt: expiresAt.toISOString() };
}

const mostLoggedTogether = 100;

export const launchLog = ({ prepared }: Database<DB>): Launching["log"] =>
  writeTogether({ most: mostLoggedTogether, write: (launches) => insertLaunches(prepared, launches) });

/** What is wrong with one of those that are written together is no fault of the others: each is tried again by itself. */
async function logged(launching: Launching, launch: NewLaunch): Promise<Launched | undefined> {
  const { prepared, query } = launching.database;
  try {
    return await launching.log(launch);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    // A day without a partition, because nobody made it for a week: nobody at a patient's bed waits for a chore.
    if (isWithoutPartition(error)) await prepareLaunchPartitions(query, launch.launchedAt);
    const [launched] = await insertLaunches(prepared, [launch]);
    return launched;
  }
}

/** An app that was subscribed to this moment may have to be confirmed with the marketplace first. */
async function confirmedAndLogged(launching: Launching, launch: NewLaunch): Promise<Launched | undefined> {
  const isConfirmed = await launching.confirmer.confirmOnDemand(launch.orgAlias, launch.appSlug);
  return isConfirmed ? logged(launching, launch) : undefined;
}

/** PostgreSQL can't tell every address that browsers refuse: such a launch is in the log, though it leads nowhere. */
const isAstray = ({ launch_type, launch_url }: Launched): boolean =>
  launch_type !== "native" && !opensInBrowsers(launch_url ?? "");

async function whyNot(
  { database }: Launching,
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
  if (launchType !== undefined && launchType !== "native" && !opensInBrowsers(found.smart_launch_url ?? "")) {
    return new Problem(
      launchProblems.noLaunchUrl,
      `The app has no SMART launch URL; it can't be launched ${launchType}.`,
    );
  }
  return new Problem(launchProblems.paused, "The app was installed or resumed this very moment; launch it again.");
}
