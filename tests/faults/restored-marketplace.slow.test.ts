import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { DifferenceDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { type DebianCluster, startDebianCluster } from "@ehr-marketplace/dev/postgres";
import { restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { cleanUpAfter, cloneDatabase, eventually, getSharedPart, urlsFor, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { copyData } from "../runner/cluster-images.ts";
import { templates } from "../runner/templates.ts";

const orgAlias = "riverside-clinic";
/** A base backup needs it. With fsync, as nothing else would be durable. */
const settings = { wal_level: "replica", max_wal_senders: "2", fsync: "on", full_page_writes: "on" };

describe("an app that was paused for security stays paused in the EHR when the marketplace is restored from", () => {
  const cleanUp = cleanUpAfter();
  let callers: Callers;
  let directory: string;
  let cluster: DebianCluster;
  let marketplaceUrl: string;
  let ehrUrl: string;
  const { database, login } = templates.demo;

  before(async () => {
    callers = await fetchCallers();
    const { directory: data, remove } = await copyData(await getSharedPart("image/oldest"));
    directory = data;
    cluster = await startDebianCluster({ directory, settings });
    cleanUp(async () => {
      await cluster.stop();
      await remove();
    });
    // Both keep running while the database is replaced.
    const { serviceUrl } = urlsFor(cluster.url, database, login);
    marketplaceUrl = (await startMarketplace(cleanUp, serviceUrl, callers.environment)).url;
    const ehr = await startEhr(cleanUp, (await cloneDatabase(cleanUp, "ehr")).serviceUrl, {
      ...callers.environment,
      MARKETPLACE_URL: `${marketplaceUrl}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
    ehrUrl = ehr.url;
  });

  const ownerUrl = (name = database): string => urlsFor(cluster.url, name, login).ownerUrl;
  const restart = async (): Promise<void> => {
    cluster = await startDebianCluster({ directory, settings, port: cluster.port });
  };
  /** Beside the cluster's folder, in which only this process may write. */
  const aside = (name: string): string => {
    const path = `${dirname(directory)}-${name}`;
    cleanUp(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  const replaceBy = async (files: string): Promise<void> => {
    await cluster.stop();
    await rm(directory, { recursive: true });
    await rename(files, directory);
  };
  const asOperator = (path: string, body?: object): Promise<Response> =>
    sendApiRequest(marketplaceUrl, path, callers.token("operator"), body === undefined ? {} : { body });
  const atEhr = async <T>(path: string, method = "GET"): Promise<T | undefined> => {
    const headers = { "x-org-alias": orgAlias };
    const response = await sendRequest(`${ehrUrl}/api${path}`, callers.token("operator"), { method, headers });
    return response.ok ? ((await response.json()) as { data: T }).data : undefined;
  };
  const reconcile = () => atEhr<{ withheld: number }>(`/admin/organisations/${orgAlias}/reconcile`, "POST");
  const statusOf = async (slug: string) => (await atEhr<{ status: string }>(`/app-installations/${slug}`))?.status;

  /** Backs up, pauses the app, loses the pause by restoring, and returns what waits for the EHR's operator. */
  const loseAPause = async (
    appSlug: string,
    backUp: () => Promise<void>,
    restore: () => Promise<void>,
  ): Promise<DifferenceDto[]> => {
    const [plan] = (await (await asOperator(`/apps/${appSlug}/pricing`)).json()) as { id: string }[];
    const created = await asOperator("/subscriptions", { appSlug, orgAlias, pricingPlanId: plan?.id });
    const { id } = (await created.json()) as SubscriptionDto;
    await reconcile();
    assert.equal(await statusOf(appSlug), "active");
    await backUp();
    // What is written in the hours until the failure.
    await withClient(cluster.url, (client) => client.query("select pg_switch_wal()"));
    await eventually("it is paused", 60_000, async () => {
      return (await asOperator(`/subscriptions/${id}/pause`, { reason: "SECURITY" })).status === 200;
    });
    await eventually("the EHR knows", 60_000, async () => (await reconcile()) !== undefined);
    assert.equal(await statusOf(appSlug), "paused");
    await restore();
    let withheld: number | undefined;
    await eventually("the marketplace is back", 120_000, async () => {
      withheld = (await reconcile())?.withheld;
      return withheld !== undefined;
    });
    const subscription = (await (await asOperator(`/subscriptions/${id}`)).json()) as SubscriptionDto;
    assert.equal(subscription.status, "active", "the marketplace has lost the pause");
    assert.equal(withheld, 1);
    assert.equal(await statusOf(appSlug), "paused");
    return (await atEhr<{ items: DifferenceDto[] }>("/admin/differences"))?.items ?? [];
  };
  const decide = async (differences: DifferenceDto[], decision: "apply" | "keep"): Promise<void> => {
    assert.equal(differences.length, 1);
    assert.notEqual(await atEhr(`/admin/differences/${differences[0]?.id}/${decision}`, "POST"), undefined);
  };

  test("copied files", async () => {
    const copied = aside("copy");
    const differences = await loseAPause(
      "northwind-scribe",
      async () => {
        await cluster.stop();
        await promisify(execFile)("cp", ["-a", directory, copied]);
        await restart();
      },
      async () => {
        await replaceBy(copied);
        await restart();
      },
    );
    await decide(differences, "apply");
    assert.equal(await statusOf("northwind-scribe"), "active");
  });

  test("a base backup", async () => {
    const backup = aside("backup");
    const differences = await loseAPause(
      "cuffline",
      async () => {
        await cluster.run("pg_basebackup", "-D", backup, "-X", "stream", "-c", "fast", "-d", cluster.url);
      },
      async () => {
        await replaceBy(backup);
        await appendFile(join(directory, "postgresql.auto.conf"), "restore_command = 'false'\n");
        await writeFile(join(directory, "recovery.signal"), "");
        await restart();
      },
    );
    await decide(differences, "apply");
    assert.equal(await statusOf("cuffline"), "active");
  });

  test("a dump", async () => {
    const dump = aside("dump");
    const differences = await loseAPause(
      "quiet-room",
      async () => {
        await cluster.run("pg_dump", "--format=custom", `--file=${dump}`, ownerUrl());
      },
      async () => {
        await withClient(cluster.url, async (client) => {
          await client.query(`drop database ${database} with (force)`);
          await client.query(`create database ${database}`);
        });
        await cluster.run("pg_restore", "--exit-on-error", "--no-owner", `--dbname=${ownerUrl()}`, dump);
        await restrictDatabase(ownerUrl(), login.role);
      },
    );
    await decide(differences, "keep");
    assert.equal((await reconcile())?.withheld, 1);
    assert.equal(await statusOf("quiet-room"), "paused");
  });
});
