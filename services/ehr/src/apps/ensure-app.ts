import { isDeepStrictEqual } from "node:util";
import type { EventApp } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { appFields } from "./app-fields.ts";
import { type AppRow, findApp, findReadSlugs, insertSlug } from "./app-store.ts";

/** What somebody knows of an app; of one that the catalog has been read of, its slug is enough. */
export type ToldApp = EventApp | Pick<EventApp, "slug">;

const askedAgainAfterMs = 60_000;

/**
 * Sees to it that an app is there to be referred to, and answers whether the catalog has been read of it. What is told of it
 * changes nothing here: it is one organisation's word, and this is everybody's. Where it differs from the catalog's, that may have
 * changed and is asked. Most say what is known already: they only read, so that the organisations that install a popular
 * app don't wait for each other at its row.
 */
export async function rememberApp(
  transaction: Transaction<DB>,
  queue: Queue,
  app: ToldApp,
  now: Date,
): Promise<boolean> {
  const known = await findApp(transaction, app.slug);
  if (known === undefined) await insertSlug(transaction, app.slug, now);
  if (!isAsKnown(known, app)) await requestAppFetch(transaction, queue, app.slug, secondsToWait(known, now));
  return known !== undefined && known.facts !== null;
}

function isAsKnown(known: AppRow | undefined, app: ToldApp): boolean {
  if (known === undefined || known.facts === null) return false;
  return !("name" in app) || isDeepStrictEqual(appFields({ slug: app.slug, ...known.facts }), appFields(app));
}

/** However many events contradict the catalog, or name what it doesn't have, it is asked once a minute at most. */
function secondsToWait(known: AppRow | undefined, now: Date): number {
  const since = Math.max(0, now.getTime() - (known?.fetchedAt?.getTime() ?? 0));
  return Math.max(0, Math.ceil((askedAgainAfterMs - since) / 1_000));
}

/** Of these apps, those that the catalog has not been read of. */
export async function findUnknownApps(database: Kysely<DB>, slugs: Iterable<string>): Promise<string[]> {
  const asked = [...new Set(slugs)];
  if (asked.length === 0) return [];
  const read = new Set(await findReadSlugs(database, asked));
  return asked.filter((slug) => !read.has(slug));
}

/** One fetch at a time waits or is under way for an app, however many ask for it. */
export async function requestAppFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  slug: string,
  startAfter = 0,
): Promise<void> {
  const boss = queue.boss();
  await boss.send(appFetches, { slug }, { singletonKey: slug, startAfter, db: fromKysely(transaction) });
}
