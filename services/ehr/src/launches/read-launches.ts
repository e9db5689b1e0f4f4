import type { LaunchLogEntry, PageQuery } from "@ehr-marketplace/contracts";
import { Problem, pageOf, type Slice } from "@ehr-marketplace/service-kit/http";
import { installationProblems } from "../installations/installation-errors.ts";
import { everHad } from "../installations/known-states.ts";
import { readNewestFirst } from "../partitioned-log.ts";
import type { Launching } from "./launch-app.ts";
import { findLaunches, type LaunchRow } from "./launch-log-store.ts";

type Reading = Pick<Launching, "database" | "clock" | "launchLogDays">;
type Log = { orgAlias: string; appSlug: string };

const dayMs = 86_400_000;

/** Also of an app that was removed. */
export async function readLaunches(
  reading: Reading,
  log: Log,
  query: PageQuery,
): Promise<{ items: LaunchLogEntry[]; next: string | null }> {
  const page = await pageOf(query, {
    find: (slice) => newestFirst(reading, log, slice),
    timeOf: (row) => row.launched_at,
    itemOf: (row) => ({
      launchId: row.id,
      launchType: row.launch_type,
      user: row.user_subject,
      launchedAt: row.launched_at.toISOString(),
    }),
  });
  if (page.items.length === 0 && !(await everHad(reading.database.query, log.orgAlias, log.appSlug))) {
    throw new Problem(installationProblems.notInstalled, "The app was never installed for this organisation.");
  }
  return page;
}

async function newestFirst({ database, clock, launchLogDays }: Reading, log: Log, slice: Slice): Promise<LaunchRow[]> {
  const now = clock();
  const oldest = new Date(now.getTime() - (launchLogDays + 1) * dayMs);
  // The launch that the cursor names may have the same time as the next one.
  const before = slice.after === undefined ? undefined : new Date(Date.parse(slice.after.at) + 1);
  return readNewestFirst({ now, before, oldest, limit: slice.limit }, (range, limit) =>
    findLaunches(database.query, log, { ...slice, limit }, range),
  );
}
