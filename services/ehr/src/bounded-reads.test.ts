import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import type { ExecutedPlan } from "@ehr-marketplace/tests/support/executed-plans";
import { Registry } from "prom-client";
import { refreshApps } from "./apps/refresh-apps.ts";
import { readAudit } from "./audit/read-audit.ts";
import type { Actor } from "./audit/record-audit.ts";
import {
  appOf,
  awaitedApp,
  type Loaded,
  outdated,
  practice,
  startLoaded,
  subscriptionId,
} from "./bounded-reads.test-support.ts";
import type { ClientDeps } from "./clients/advance-client.ts";
import { createClientCache } from "./clients/client-cache.ts";
import { requestClientRefreshes, runClientJob } from "./clients/client-jobs.ts";
import { createClientRegistrar } from "./clients/client-registrar.ts";
import { listClients } from "./clients/manage-clients.ts";
import { reportConnections } from "./clients/report-connections.ts";
import { deleteRemovedInstallations } from "./installations/installation-retention.ts";
import { type ConfigDeps, putConfig, readConfig } from "./installations/put-config.ts";
import { loadInstallations } from "./installations/read-installations.ts";
import { createLaunchWriter, type LaunchDeps, launchApp } from "./launches/launch-app.ts";
import { createLaunchMetrics } from "./launches/launch-metrics.ts";
import { readLaunches } from "./launches/read-launches.ts";
import { deleteExpiredContexts, redeemLaunch } from "./launches/redeem-launch.ts";
import { deleteOldDeliveries, receiveEvent } from "./marketplace-events/receive-event.ts";
import { takeAppFetch } from "./organisations/app-fetch-rate.ts";
import { deleteExpiredSecrets } from "./organisations/organisation-secrets.ts";
import { createOrganisationSlots } from "./organisations/organisation-slots.ts";
import {
  findReconciledOrganisation,
  isKnownOrganisation,
  listOrganisationsToReconcile,
  longestUnreconciledMs,
} from "./organisations/reconciliation-state.ts";
import { confirmForAll } from "./subscriptions/confirm-subscriptions.ts";
import { registerSubscriptionMetrics } from "./subscriptions/subscription-metrics.ts";

const hour = 3_600_000;
const actor: Actor = {
  issuer: "https://id.example",
  subject: "a-service",
  role: "ehr-service",
  requestId: "a-request",
};
const app = appOf(0, 3);
/** Rows of the practice from the beginning. */
const few = 10;

interface EventInput {
  event: "subscription.created" | "subscription.paused" | "subscription.resumed" | "subscription.cancelled";
  status: "active" | "paused" | "cancelled";
  id: string;
  at?: number;
}

/** Applies an event without HTTP, as after its signature is verified. */
function receive({ connected }: Loaded, { event, status, id, at = Date.now() }: EventInput): Promise<unknown> {
  const receiving = { ...connected, confirmer: { confirmSoon: () => undefined }, slots: createOrganisationSlots() };
  const parsed = {
    event,
    app: { slug: appOf(0, 5) },
    subscription: { id, status, orgAlias: practice },
    timestamp: new Date(at).toISOString(),
  };
  return receiveEvent(receiving, { orgAlias: practice, parsed }, randomUUID());
}

const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
const user = {
  issuer: "https://id.example",
  subject: "a-user",
  roles: new Set<never>(),
  organisations: new Map<string, never>(),
  vendors: new Set<string>(),
  ignoredRoleReasons: [],
};

/** The service's own wiring, with a marketplace that confirms nothing. */
function launchDepsOf({ connected }: Loaded): LaunchDeps {
  const { database: query, pool, clock, queue } = connected;
  const database = { query, pool };
  return {
    database,
    queue,
    clock,
    insertLaunch: createLaunchWriter(database),
    metrics: createLaunchMetrics(new Registry()),
    fhirBaseUrl: "https://fhir.example/{orgAlias}",
    launchLogDays: 2_192,
    confirmer: { confirmOnDemand: () => Promise.resolve(false) },
  };
}

const configDepsOf = ({ connected }: Loaded): ConfigDeps => ({
  ...connected,
  encryption,
  installations: { drop: () => undefined },
  slots: createOrganisationSlots(),
  confirmer: { confirmOnDemand: () => Promise.resolve(false), fetchOnDemand: () => Promise.resolve() },
});

/** The marketplace says how each app signs in, and operators register clients. */
function clientDepsOf({ connected }: Loaded): ClientDeps {
  const metadata = { clientId: "https://marketplace.example", text: '{"client_id":"https://marketplace.example"}' };
  return {
    ...connected,
    encryption,
    method: "manual",
    per: "organisation",
    reports: true,
    registrar: createClientRegistrar({ url: "", token: "", send: () => assert.fail("nothing is sent") }),
    fetchMetadata: () =>
      Promise.resolve({ kind: "found", metadata: { ...metadata, sha256: "a".repeat(64) }, etag: null }),
  };
}

interface UseCase {
  work: (given: Loaded) => Promise<unknown>;
  /** The limit of one statement. */
  maxRows?: number;
  maxPages?: number;
}

/** A statement of a scheduled job handles up to a thousand rows at a time. */
const batch = { maxRows: 5_000, maxPages: 20_000 };

const useCases: Record<string, UseCase> = {
  "creating a launch": {
    work: (given) => launchApp(launchDepsOf(given), user, { orgAlias: practice, appSlug: app }, {}),
  },
  "creating launches at the same time": {
    work(given) {
      const deps = launchDepsOf(given);
      const slugs = Array.from({ length: 100 }, (_, nth) => appOf(0, nth % few));
      return Promise.all(slugs.map((appSlug) => launchApp(deps, user, { orgAlias: practice, appSlug }, {})));
    },
  },
  "refusing a launch": {
    work: (given) =>
      assert.rejects(
        launchApp(launchDepsOf(given), user, { orgAlias: practice, appSlug: "no-such-app" }, {}),
        /not installed/,
      ),
  },
  "redeeming a launch": {
    async work(given) {
      const launch = { orgAlias: practice, appSlug: app, user: "a-user" };
      await redeemLaunch(launchDepsOf(given), actor, { ...launch, launch: "launch 3" });
      await assert.rejects(
        redeemLaunch(launchDepsOf(given), actor, { ...launch, launch: "guessed" }),
        /can't be redeemed/,
      );
    },
  },
  "listing the launches of an app": {
    work: (given) => readLaunches(launchDepsOf(given), { orgAlias: practice, appSlug: app }, { limit: 100 }),
  },
  "listing the installations of an organisation": {
    work: ({ connected }) => loadInstallations(connected.database, encryption, practice, connected.logger),
  },
  "reading a configuration": { work: (given) => readConfig(configDepsOf(given), actor, practice, app) },
  "changing a configuration": { work: (given) => putConfig(configDepsOf(given), actor, practice, app, { a: 1 }) },
  "applying an event of a new subscription": {
    work: (given) => receive(given, { event: "subscription.created", status: "active", id: randomUUID() }),
  },
  "applying the events of a known subscription": {
    async work(given) {
      const id = subscriptionId(0, 5);
      await receive(given, { event: "subscription.paused", status: "paused", id, at: Date.now() });
      await receive(given, { event: "subscription.cancelled", status: "cancelled", id, at: Date.now() + 1 });
      await receive(given, { event: "subscription.resumed", status: "active", id, at: Date.now() + 2 });
    },
  },
  "ignoring a replayed event": {
    work: (given) =>
      receive(given, {
        event: "subscription.paused",
        status: "paused",
        id: subscriptionId(0, 6),
        at: Date.now() - 48 * hour,
      }),
  },
  "finding the secrets of an organisation": {
    async work({ connected }) {
      await isKnownOrganisation(connected.database, practice);
      await takeAppFetch(connected.database, practice, new Date());
    },
  },
  "confirming subscriptions to an app": {
    work: ({ connected }) =>
      confirmForAll({ ...connected, reconciles: false }, awaitedApp, new AbortController().signal),
  },
  "reading the audit log of an organisation": {
    work: ({ connected }) => readAudit(connected, { orgAlias: practice, limit: 100 }),
  },
  "requesting fetches of stale apps": { work: ({ connected }) => refreshApps(connected), ...batch },
  "requesting refreshes of clients": { work: ({ connected }) => requestClientRefreshes(connected), ...batch },
  "refreshing the clients of an app": {
    work: (given) => runClientJob(clientDepsOf(given), { refresh: app }),
  },
  "connecting the client of an installation": {
    work: (given) => runClientJob(clientDepsOf(given), { appSlug: app, orgAlias: practice }),
  },
  "reporting the connections of an app": {
    async work(given) {
      const { database, logger } = given.connected;
      const find = "select id from clients where app_slug = $1 and org_alias = $2";
      const [client] = await given.run<{ id: string }>(find, app, practice);
      const deps = { database, logger, putConnection: () => Promise.resolve(200) };
      await reportConnections(deps, { clientId: client?.id ?? randomUUID() });
    },
  },
  "listing clients": {
    async work({ connected }) {
      const deps = { ...connected, encryption, reports: true };
      await listClients(deps, { limit: 100 });
      await listClients(deps, { limit: 100, status: "ready" });
      await listClients(deps, { limit: 100, tasks: true });
      await createClientCache(connected.database, 1_000_000).find("no-such-client");
    },
  },
  "counting quarantined subscriptions": {
    work({ connected }) {
      const registry = new Registry();
      registerSubscriptionMetrics(registry, connected.database);
      return registry.metrics();
    },
  },
  "finding organisations to reconcile": {
    async work({ connected }) {
      await longestUnreconciledMs(connected.database, new Date());
      await findReconciledOrganisation(connected.database);
      for await (const _ of listOrganisationsToReconcile(connected.database, new Date())) break;
    },
    ...batch,
  },
  "deleting expired launch contexts": {
    work: ({ connected }) => deleteExpiredContexts(connected.database, new Date()),
    ...batch,
  },
  "deleting old deliveries": { work: ({ connected }) => deleteOldDeliveries(connected.database, new Date()), ...batch },
  "deleting removed installations": {
    work: ({ connected }) => deleteRemovedInstallations(connected.database, new Date()),
    ...batch,
  },
  "clearing expired secrets": {
    work: ({ connected }) => deleteExpiredSecrets(connected.database, new Date()),
    ...batch,
  },
};

const describePlan = ({ statement, rowsRead, pagesRead, scans }: ExecutedPlan): string =>
  `${rowsRead} rows, ${pagesRead} pages: ${statement.slice(0, 160)} [${scans}]`;

for (const statistics of isFullRun ? (["stale", "empty"] as const) : (["stale"] as const)) {
  describe(`with 100,000 installations, generic plans and ${statistics} statistics`, () => {
    const cleanUp = cleanUpAfter();
    let given: Loaded;
    before(async () => {
      given = await startLoaded(cleanUp, statistics, async (unloaded) => {
        for (const { work } of Object.values(useCases)) await work(unloaded);
      });
    });

    const assertBounded = async ({ work, maxRows = 2_500, maxPages = 2_500 }: UseCase): Promise<unknown> => {
      given.plans.take();
      const result = await work(given);
      const plans = given.plans.take();
      assert.notEqual(plans.length, 0, "statements are explained");
      const excessive = plans.filter(({ rowsRead, pagesRead }) => rowsRead > maxRows || pagesRead > maxPages);
      assert.deepEqual(excessive.map(describePlan), []);
      return result;
    };
    for (const [name, useCase] of Object.entries(useCases)) {
      test(`${name} reads at most ${useCase.maxRows ?? 2_500} rows`, async () => {
        const result = await assertBounded(useCase);
        // A confirmed subscription installs a removed app again.
        if (name.startsWith("deleting")) assert.ok(Number(result) > outdated * 0.9, `${String(result)} were deleted`);
      });
    }

    test("reading logs is as bounded after PostgreSQL has analysed them", async () => {
      await given.run("analyze audit_entries, launches");
      for (const [name, useCase] of Object.entries(useCases))
        if (/audit|launches of/.test(name)) await assertBounded(useCase);
    });
  });
}
