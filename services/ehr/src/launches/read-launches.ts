import type { LaunchLogEntry, PageQuery } from "@ehr-marketplace/contracts";
import { Problem, pageOf, type Slice } from "@ehr-marketplace/service-kit/http";
import { installationProblems } from "../installations/installation-errors.ts";
import { everHad } from "../installations/known-states.ts";
import type { Launching } from "./launch-app.ts";
import { findLaunches, type LaunchRow } from "./launch-log-store.ts";

type Reading = Pick<Launching, "database" | "clock" | "launchLogDays">;
type Log = { orgAlias: string; appSlug: string };

const dayMs = 86_400_000;
const mostDaysAtOnce = 92;

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

/**
 * Six years are 2,192 partitions, and a statement over all of them takes about as many locks as PostgreSQL has for everybody.
 * So the log is read backwards, from what is most likely asked for, in ever longer strides.
 */
async function newestFirst({ database, clock, launchLogDays }: Reading, log: Log, slice: Slice): Promise<LaunchRow[]> {
  const now = clock().getTime();
  const oldest = now - (launchLogDays + 1) * dayMs;
  const found: LaunchRow[] = [];
  let before: Date | undefined;
  // A cursor may name any time; in the future there is nothing to find.
  let at = Math.min(now, slice.after === undefined ? now : Date.parse(slice.after.at));
  for (let days = 1; found.length < slice.limit && at > oldest; days = Math.min(2 * days, mostDaysAtOnce)) {
    at -= days * dayMs;
    const from = new Date(at);
    const limit = slice.limit - found.length;
    found.push(...(await findLaunches(database.query, log, { ...slice, limit }, { from, before })));
    before = from;
  }
  return found;
}
