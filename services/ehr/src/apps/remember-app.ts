import { isDeepStrictEqual } from "node:util";
import type { EventApp } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { appFields } from "./app-fields.ts";
import { findKnownApp, findKnownSlugs, upsertApp } from "./app-store.ts";

/**
 * Keeps what an event says of an app, where it is newer. Most events say what is known already: they only read, so that the
 * organisations that install a popular app don't wait for each other at its row. A transaction that remembers several
 * apps does so in the order of their slugs, or two of them could wait for each other for ever.
 */
export async function rememberApp(
  transaction: Transaction<DB>,
  queue: Queue,
  app: EventApp,
  asOf: Date,
  now: Date,
): Promise<void> {
  const known = await findKnownApp(transaction, app.slug);
  const isNews = known === undefined || (known.asOf < asOf && !isDeepStrictEqual(appFields(known), appFields(app)));
  if (isNews) await upsertApp(transaction, app, asOf, now);
  // What an event changed, the catalog has the last word on: an event that was long on its way may be the older one.
  if (isNews || !known.schemaKnown) await requestAppFetch(transaction, queue, app.slug);
}

/** Of these apps, those of which nothing is known here. */
export async function findUnknownApps(database: Kysely<DB>, slugs: Iterable<string>): Promise<string[]> {
  const asked = [...new Set(slugs)];
  if (asked.length === 0) return [];
  const known = new Set(await findKnownSlugs(database, asked));
  return asked.filter((slug) => !known.has(slug));
}

/** One fetch at a time waits or is under way for an app, however many ask for it. */
export async function requestAppFetch(transaction: Transaction<DB>, queue: Queue, slug: string): Promise<void> {
  const boss = await queue.boss();
  await boss.send(appFetches, { slug }, { singletonKey: slug, db: fromKysely(transaction) });
}
