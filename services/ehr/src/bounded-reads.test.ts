import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, type ExecutedPlan } from "@ehr-marketplace/tests/support";
import { refreshApps } from "./apps/refresh-apps.ts";
import { readAudit } from "./audit/read-audit.ts";
import { type Actor, recordAudit } from "./audit/record-audit.ts";
import {
  appCalled,
  appOf,
  type Loaded,
  launchHash,
  outdated,
  practice,
  startLoaded,
  subscriptionId,
} from "./bounded-reads.test-support.ts";
import { confirmFor } from "./installations/confirm-subscriptions.ts";
import {
  findConfigured,
  findInstallations,
  findSchemaState,
  lockConfigured,
  updateInstallation,
} from "./installations/installation-store.ts";
import { deleteLeftConfigurations } from "./installations/left-configuration.ts";
import {
  countQuarantined,
  findUnconfirmedApp,
  findUnconfirmedOrganisations,
  findUnconfirmedSlugs,
} from "./installations/subscription-store.ts";
import { deleteExpiredContexts } from "./launches/expire-contexts.ts";
import { redeemContext } from "./launches/launch-context-store.ts";
import { findLaunches } from "./launches/launch-log-store.ts";
import { findStatus, insertLaunches } from "./launches/launch-store.ts";
import { forgetDeliveries } from "./marketplace-events/forget-deliveries.ts";
import { receiveEvent } from "./marketplace-events/receive-event.ts";
import { canFetchApp } from "./organisations/app-fetch-rate.ts";
import { forgetEndedSecrets } from "./organisations/forget-ended-secrets.ts";
import { longestUnreconciledMs, organisationsToReconcile } from "./organisations/hold-organisation.ts";
import { findSecrets } from "./organisations/organisation-store.ts";

const hour = 3_600_000;
const actor: Actor = {
  issuer: "https://id.example",
  subject: "a-service",
  role: "ehr-service",
  requestId: "a-request",
};
const app = appOf(0, 3);

interface Told {
  event: "subscription.created" | "subscription.paused" | "subscription.resumed" | "subscription.cancelled";
  status: "active" | "paused" | "cancelled";
  id: string;
  at?: number;
}

/** As the receiver does it, once the signature is verified. */
function receive({ connected }: Loaded, { event, status, id, at = Date.now() }: Told): Promise<unknown> {
  const receiving = { ...connected, confirmer: { confirmSoon: () => undefined } };
  const parsed = {
    event,
    app: { slug: appOf(0, 5) },
    subscription: { id, status, orgAlias: practice },
    timestamp: new Date(at).toISOString(),
  };
  return receiveEvent(receiving, { orgAlias: practice, parsed }, randomUUID());
}

const launch = (appSlug: string) => ({
  id: randomUUID(),
  orgAlias: practice,
  appSlug,
  launchType: undefined,
  user: { issuer: "https://id.example", subject: "a-user" },
  patientId: "p1",
  encounterId: undefined,
  launchedAt: new Date(),
  launchHash: Buffer.from(randomUUID().replaceAll("-", "").repeat(2), "hex"),
  expiresAt: new Date(Date.now() + hour),
});

const redemption = (hash: Buffer) => ({
  launchHash: hash,
  orgAlias: practice,
  appSlug: app,
  user: "a-user",
  now: new Date(),
  auditId: randomUUID(),
  actor,
});

interface UseCase {
  work: (given: Loaded) => Promise<unknown>;
  /** Of one statement. */
  maxRows?: number;
  maxPages?: number;
}

/** A statement of a scheduled job handles up to a thousand rows at a time. */
const batch = { maxRows: 5_000, maxPages: 20_000 };

const useCases: Record<string, UseCase> = {
  "creating a launch": { work: ({ connected }) => insertLaunches(connected.prepared, [launch(app)]) },
  "creating a hundred launches at once": {
    work: ({ connected }) =>
      insertLaunches(
        connected.prepared,
        Array.from({ length: 100 }, (_, nth) => launch(appOf(0, nth))),
      ),
  },
  "explaining why an app can't be launched": { work: ({ connected }) => findStatus(connected.database, practice, app) },
  "redeeming a launch": {
    async work({ connected }) {
      await redeemContext(connected.prepared, redemption(launchHash(3)));
      await redeemContext(connected.prepared, redemption(launchHash(-1)));
    },
  },
  "listing the launches of an app": {
    work: ({ connected }) =>
      findLaunches(
        connected.database,
        { orgAlias: practice, appSlug: app },
        { after: undefined, limit: 101 },
        { from: new Date(Date.now() - 24 * hour), before: undefined },
      ),
  },
  "listing the installations of an organisation": {
    async work({ connected }) {
      await findUnconfirmedSlugs(connected.database, practice);
      await findInstallations(connected.database, practice);
    },
  },
  "reading a configuration": {
    async work({ connected }) {
      await findConfigured(connected.database, practice, app);
      const target = { kind: "installation", id: app };
      await recordAudit(connected.database, {
        actor,
        at: new Date(),
        onBehalfOf: practice,
        action: "installation.read-config",
        target,
      });
    },
  },
  "changing a configuration": {
    work: ({ connected }) =>
      connected.database.transaction().execute(async (transaction) => {
        await findSchemaState(transaction, practice, app);
        const found = await lockConfigured(transaction, practice, app);
        await updateInstallation(transaction, found?.id ?? randomUUID(), { sealed_config: "1.other" });
      }),
  },
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
      await findSecrets(connected.database, practice);
      await canFetchApp(connected.database, practice, new Date());
    },
  },
  "confirming subscriptions to an app": {
    async work({ connected }) {
      const [alias = practice] = await findUnconfirmedOrganisations(connected.database, appCalled(7), "", 100);
      await findUnconfirmedApp(connected.database, alias, appCalled(7));
      await confirmFor({ ...connected, reconciles: false }, alias, appCalled(7));
    },
  },
  "reading the audit log of an organisation": {
    work: ({ connected }) => readAudit(connected, { orgAlias: practice, limit: 100 }),
    // Of a day that was never analysed PostgreSQL reads all entries, by way of their time.
    maxRows: 250_000,
    maxPages: 5_000,
  },
  "requesting fetches of stale apps": { work: ({ connected }) => refreshApps(connected), ...batch },
  "counting quarantined subscriptions": { work: ({ connected }) => countQuarantined(connected.database) },
  "finding organisations to reconcile": {
    async work({ connected }) {
      await longestUnreconciledMs(connected.database, new Date());
      for await (const _ of organisationsToReconcile(connected.database, new Date())) break;
    },
    ...batch,
  },
  "deleting expired launch contexts": {
    work: ({ connected }) => deleteExpiredContexts(connected.database, new Date()),
    ...batch,
  },
  "deleting old deliveries": { work: ({ connected }) => forgetDeliveries(connected.database, new Date()), ...batch },
  "deleting left configurations": {
    work: ({ connected }) => deleteLeftConfigurations(connected.database, new Date()),
    ...batch,
  },
  "forgetting ended secrets": { work: ({ connected }) => forgetEndedSecrets(connected.database, new Date()), ...batch },
};

const describePlan = ({ statement, rowsRead, pagesRead, scans }: ExecutedPlan): string =>
  `${rowsRead} rows, ${pagesRead} pages: ${statement.slice(0, 160)} [${scans}]`;

for (const statistics of ["stale", "empty"] as const) {
  describe(`with 100,000 installations, generic plans and ${statistics} statistics`, () => {
    const cleanUp = cleanUpAfter();
    let given: Loaded;
    before(async () => {
      given = await startLoaded(cleanUp, statistics, async (unloaded) => {
        for (const { work } of Object.values(useCases)) await work(unloaded);
      });
    });

    for (const [name, { work, maxRows = 2_500, maxPages = 2_500 }] of Object.entries(useCases)) {
      test(`${name} reads at most ${maxRows} rows`, async () => {
        given.plans.take();
        const result = await work(given);
        const plans = given.plans.take();
        assert.notEqual(plans.length, 0, "statements are explained");
        if (name.startsWith("deleting")) assert.ok(Number(result) > outdated * 0.9, `${String(result)} were deleted`);
        const excessive = plans.filter(({ rowsRead, pagesRead }) => rowsRead > maxRows || pagesRead > maxPages);
        assert.deepEqual(excessive.map(describePlan), []);
      });
    }
  });
}
