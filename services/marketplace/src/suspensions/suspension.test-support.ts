import assert from "node:assert/strict";
import type { AdminAppDto } from "@ehr-marketplace/contracts";
import { insertSubscribers, type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { type CleanUp, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { startReplayground } from "../replays/replay.test-support.ts";
import { runSuspensionStep, type SuspensionDeps } from "./run-suspension-step.ts";

/** An API and a database without a worker: the test runs the steps and deliveries itself. */
export interface SuspensionGround {
  marketplace: MarketplaceWithCallers;
  deps: SuspensionDeps;
  practices: Practice[];
  query<T>(statement: string, ...values: unknown[]): Promise<T[]>;
  /** Subscribes the first practices to the app. */
  subscribe(appSlug: string, count: number): Promise<string[]>;
  /** Sends a command for the app as an operator. */
  operate(appSlug: string, command: "suspend" | "reinstate", body?: object): Promise<AdminAppDto>;
  progress(appSlug: string): Promise<AdminAppDto["suspension"]>;
  /** Runs the next step of every suspension without waiting for its time, and returns how many there were. */
  step(): Promise<number>;
  /** Runs all steps. */
  finish(): Promise<void>;
  /** Delivers all ready deliveries and their successors, and returns their ids in order. */
  deliver(): Promise<string[]>;
}

export async function startSuspensionGround(cleanUp: CleanUp, practiceCount: number): Promise<SuspensionGround> {
  const marketplace = await startMarketplaceWithCallers(cleanUp);
  const { ownerUrl, serviceUrl } = marketplace.database;
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  // The demo apps were inserted without listings.
  await query("select adopt_apps()");
  const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const replayground = await startReplayground(cleanUp, { serviceUrl, query, encryption });
  const { database, queue } = replayground;
  const practices = await registerPractices(ownerUrl, { count: practiceCount, callbackUrl: "http://127.0.0.1:9" });
  const logger = createLogger({ service: "test", level: "silent" });
  const deps = { database, queue, logger, clock: () => new Date() };
  const read = async (response: Response): Promise<AdminAppDto> => {
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as AdminAppDto;
  };
  const step = async (): Promise<number> => {
    await query("update pgboss.job set start_after = now() where name = 'suspensions' and state = 'created'");
    const jobs = await queue.boss().fetch("suspensions", { batchSize: 100 });
    for (const { id, retryCount } of jobs) await runSuspensionStep(deps, { id, retryCount });
    return jobs.length;
  };
  return {
    marketplace,
    deps,
    practices,
    query,
    step,
    deliver: () => replayground.deliver(),
    subscribe: (appSlug, count) => insertSubscribers(ownerUrl, appSlug, practices.slice(0, count)),
    operate: async (appSlug, command, body) =>
      read(
        await marketplace.requestAs("operator", `/admin/apps/${appSlug}/${command}`, {
          method: "POST",
          ...(body === undefined ? {} : { body }),
        }),
      ),
    progress: async (appSlug) =>
      (await read(await marketplace.requestAs("operator", `/admin/apps/${appSlug}`))).suspension,
    async finish() {
      for (let steps = 0; (await step()) > 0; steps += 1) assert.ok(steps < 200, "it doesn't end");
    },
  };
}

export const pausing = { reason: "Its page was taken over", pauseSubscriptions: true };
