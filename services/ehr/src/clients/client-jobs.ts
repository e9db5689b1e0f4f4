import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { clientRegistrations } from "../queues.ts";
import { advanceClient, advanceClientById, type ClientDeps, ClientRetryError } from "./advance-client.ts";
import {
  type ClientRow,
  findAppsWithClients,
  findClientByKey,
  findClientsToAdvance,
  findInstallationOf,
  findInstalledApp,
  findOrganisationsWithoutClient,
} from "./client-store.ts";
import { findUnreported } from "./connection-report-store.ts";
import { ensureClientMetadata } from "./ensure-client-metadata.ts";
import { type ClientJob, requestClientJobs } from "./request-client-job.ts";
import { requestReport } from "./request-report.ts";

const batchSize = 10;
const pageSize = 1_000;
const spreadSeconds = 10 * 60;

/** Runs the jobs that bring clients to the authorization server. A failed one is retried at growing intervals. */
export async function workClientJobs(boss: PgBoss, deps: ClientDeps): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<ClientJob, JobResult[], typeof options>(clientRegistrations, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }): Promise<JobResult> => {
        try {
          await runClientJob(deps, data);
          return { id, status: "completed" };
        } catch (error) {
          if (!(error instanceof ClientRetryError)) {
            deps.logger.warn({ ...data, err: error }, "failed to connect an app's client; the job will retry");
          }
          return { id, status: "failed" };
        }
      }),
    ),
  );
}

export async function runClientJob(deps: ClientDeps, job: ClientJob): Promise<void> {
  if ("refresh" in job) {
    await refreshClients(deps, job.refresh, job.isChanged === true);
  } else if ("id" in job) {
    await reportIfNeeded(deps, await advanceClientById(deps, job.id, job.isToCheck === true));
  } else {
    const { appSlug, orgAlias } = job;
    const row = await advanceClient(deps, { appSlug, orgAlias: deps.per === "organisation" ? orgAlias : null });
    await reportIfNeeded(deps, row, orgAlias);
  }
}

/** A new installation of an app whose client is known has to be reported, too. */
async function reportIfNeeded(
  { database, queue, reports }: ClientDeps,
  row: ClientRow | undefined,
  ofOrganisation?: string,
): Promise<void> {
  if (!reports || row === undefined) return;
  const client = { appSlug: row.app_slug, orgAlias: row.org_alias ?? ofOrganisation ?? null, version: row.version };
  const unreported = await findUnreported(database, client, "", 1);
  if (unreported.length === 0) return;
  const report = ofOrganisation === undefined ? {} : { orgAlias: ofOrganisation };
  await database
    .transaction()
    .execute((transaction) => requestReport(transaction, queue, { clientId: row.id, ...report }));
}

/** Requests a job for each client of the app for which there may be something to do, and for installations without one. */
async function refreshClients(deps: ClientDeps, appSlug: string, isChanged: boolean): Promise<void> {
  const { database, queue, per, reports } = deps;
  const metadata = await ensureClientMetadata(deps, appSlug, isChanged);
  const shared = await findClientByKey(database, { appSlug, orgAlias: null });
  if (shared !== undefined) await requestClientJobs(queue, [{ id: shared.id }]);
  const findClients = (after: string) =>
    findClientsToAdvance(database, { appSlug, isEach: per === "app", reports }, after, pageSize);
  for await (const clients of eachPage(findClients, ({ orgAlias }) => orgAlias)) {
    await requestClientJobs(
      queue,
      clients.map(({ id }) => ({ id })),
    );
  }
  if (per === "app") {
    const orgAlias = shared === undefined ? await findInstallationOf(database, appSlug) : undefined;
    if (orgAlias !== undefined) await requestClientJobs(queue, [{ appSlug, orgAlias }]);
    return;
  }
  // An app that doesn't sign in has no client, however often it is installed.
  if (metadata.kind === "absent" && !(await findInstalledApp(database, { appSlug, orgAlias: null }))?.signsIn) return;
  const findOrganisations = (after: string) => findOrganisationsWithoutClient(database, appSlug, after, pageSize);
  for await (const aliases of eachPage(findOrganisations, (alias) => alias)) {
    await requestClientJobs(
      queue,
      aliases.map((orgAlias) => ({ appSlug, orgAlias })),
    );
  }
}

async function* eachPage<T>(find: (after: string) => Promise<T[]>, keyOf: (item: T) => string): AsyncGenerator<T[]> {
  for (let after = ""; ; ) {
    const page = await find(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageSize) return;
    after = keyOf(last);
  }
}

/** Requests a refresh of every app with installations or clients, spread over ten minutes. */
export async function requestClientRefreshes(
  { database, queue }: { database: Kysely<DB>; queue: Queue },
  random: () => number = Math.random,
): Promise<void> {
  const findApps = (after: string) => findAppsWithClients(database, after, pageSize);
  for await (const slugs of eachPage(findApps, (slug) => slug)) {
    await requestClientJobs(
      queue,
      slugs.map((slug) => ({ refresh: slug })),
      () => Math.floor(random() * spreadSeconds),
    );
  }
}
