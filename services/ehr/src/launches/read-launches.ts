import type { LaunchLogEntry, PageQuery } from "@ehr-marketplace/contracts";
import { listPage, type PageSlice, Problem } from "@ehr-marketplace/service-kit/http";
import { installationProblems } from "../installations/installation-errors.ts";
import { readNewestFirst } from "../partitioned-log.ts";
import { wasEverInstalled } from "../subscriptions/stored-states.ts";
import type { LaunchDeps } from "./launch-app.ts";
import { findLaunches, type LaunchRow } from "./launch-log-store.ts";

type ReadDeps = Pick<LaunchDeps, "database" | "clock" | "launchLogDays">;
type LaunchLogKey = { orgAlias: string; appSlug: string };

const dayMs = 86_400_000;

/** Includes launches of removed apps. */
export async function readLaunches(
  deps: ReadDeps,
  log: LaunchLogKey,
  query: PageQuery,
): Promise<{ items: LaunchLogEntry[]; next: string | null }> {
  const page = await listPage(query, {
    find: (slice) => findNewestLaunches(deps, log, slice),
    getTime: (row) => row.launched_at,
    toItem: (row) => ({
      launchId: row.id,
      launchType: row.launch_type,
      user: row.user_subject,
      launchedAt: row.launched_at.toISOString(),
    }),
  });
  if (page.items.length === 0 && !(await wasEverInstalled(deps.database.query, log.orgAlias, log.appSlug))) {
    throw new Problem(installationProblems.notInstalled, "The app was never installed for this organisation.");
  }
  return page;
}

async function findNewestLaunches(
  { database, clock, launchLogDays }: ReadDeps,
  log: LaunchLogKey,
  slice: PageSlice,
): Promise<LaunchRow[]> {
  const now = clock();
  const oldest = new Date(now.getTime() - (launchLogDays + 1) * dayMs);
  // The next launch may have the same time as the cursor's launch.
  const before = slice.after === undefined ? undefined : new Date(Date.parse(slice.after.at) + 1);
  return readNewestFirst({ now, before, oldest, limit: slice.limit }, (range, limit) =>
    findLaunches(database.query, log, { ...slice, limit }, range),
  );
}
