import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { MediaDto } from "@ehr-marketplace/contracts";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { type DeleteMediaDeps, deleteUnusedMedia } from "./delete-unused-media.ts";
import { pdf } from "./files.test-support.ts";
import { createFolderStorage } from "./folder-storage.ts";
import { markForDeletion } from "./media-store.ts";

/** The demo apps have media too. */
const ofListing = "app_id = (select app_id from listings where slug = 'tidy')";
const dayMs = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * dayMs);

describe("media that nothing uses", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let directory: string;
  let deps: DeleteMediaDeps;
  const by = "northwind-developer";
  const path = "/developer/apps/tidy";
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "media-"));
    cleanUp(() => rm(directory, { recursive: true, force: true }));
    marketplace = await startMarketplaceWithCallers(cleanUp, { MEDIA_DIRECTORY: directory });
    const { database } = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    deps = {
      database,
      storage: createFolderStorage(directory),
      logger: createLogger({ service: "test", level: "fatal" }),
      stopped: new AbortController().signal,
    };
    const created = await marketplace.requestAs(by, "/developer/apps", { body: { slug: "tidy", name: "Tidy" } });
    assert.equal(created.status, 201);
  });
  const upload = async (text: string = randomUUID()): Promise<string> => {
    const response = await marketplace.requestAs(by, `${path}/media?kind=document`, {
      body: pdf(text),
      headers: { "content-type": "application/pdf" },
    });
    assert.equal(response.status, 201, await response.clone().text());
    return ((await response.json()) as MediaDto).id;
  };
  const edit = async (body: object): Promise<void> => {
    const etag = (await marketplace.requestAs(by, path)).headers.get("etag") ?? "";
    const response = await marketplace.requestAs(by, path, { method: "PATCH", body, headers: { "if-match": etag } });
    assert.equal(response.status, 200, await response.clone().text());
  };
  const rows = async (): Promise<string[]> => {
    const sql = `select id from media where ${ofListing} order by id`;
    const found = await withClient(marketplace.database.ownerUrl, (client) => client.query<{ id: string }>(sql));
    return found.rows.map(({ id }) => id);
  };
  const objects = async (): Promise<string[]> =>
    (await readdir(join(directory, "objects"))).map((key) => key.slice(65)).toSorted();
  const query = (sql: string, ...values: unknown[]): Promise<unknown> =>
    withClient(marketplace.database.ownerUrl, (client) => client.query(sql, values));
  const assertKept = async (...ids: string[]): Promise<void> => {
    assert.deepEqual([await rows(), await objects()], [ids.toSorted(), ids.toSorted()]);
  };

  test("is deleted 30 days after its last use, everything that a draft refers to is kept", async () => {
    const unused = await upload();
    const [icon, shot, baa, card] = [await upload(), await upload(), await upload(), await upload()];
    const published = await upload();
    await query("update media set published_at = now() where id = $1", published);
    await edit({
      icon: icon?.toUpperCase(),
      screenshots: [{ text: "No media yet" }, { media: shot, text: "A note" }],
      baaDocument: baa,
      trust: { ai: { kind: "GENERATIVE", modelCard: card } },
    });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(29)), { deleted: 0 });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(31)), { deleted: 1 });
    const used = [icon, shot, baa, card].map(String);
    await assertKept(published, ...used);
    assert.ok(!(await rows()).includes(unused));

    // The time begins when it isn't used anymore, and ends when it is used again.
    await edit({ icon: null, baaDocument: null });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(100)), { deleted: 0 });
    await edit({ baaDocument: baa });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(129)), { deleted: 0 });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(131)), { deleted: 1 });
    await assertKept(published, ...used.slice(1));
    await edit({ screenshots: null, baaDocument: null, trust: null });
    await query(`update media set published_at = null where ${ofListing}`);
    await deleteUnusedMedia(deps, inDays(200));
    await deleteUnusedMedia(deps, inDays(231));
    await assertKept();
  });

  test("an upload of the same file begins the time anew", async () => {
    const id = await upload("again");
    await query("update media set unused_since = now() - interval '31 days' where id = $1", id);
    assert.equal(await upload("again"), id);
    assert.deepEqual(await deleteUnusedMedia(deps, new Date()), { deleted: 0 });
    await assertKept(id);
    await deleteUnusedMedia(deps, inDays(31));
  });

  test("leaks nothing where a process died: in an upload, or between two steps of a deletion", async () => {
    // Died before the object was stored, or after.
    const [begun, stored] = [await upload(), await upload()];
    await query("update media set stored_at = null where id = any($1)", [begun, stored]);
    await rm(
      join(directory, "objects", `${(await readdir(join(directory, "objects"))).find((key) => key.endsWith(begun))}`),
      { recursive: true },
    );
    await deleteUnusedMedia(deps, inDays(0.5));
    assert.equal((await rows()).length, 2);
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(2)), { deleted: 2 });
    await assertKept();

    // Died after the row was marked, and after the object was deleted.
    const [marked, halfDeleted] = [await upload(), await upload()];
    await query("update media set deleting_at = now() where id = any($1)", [marked, halfDeleted]);
    const key = (await readdir(join(directory, "objects"))).find((each) => each.endsWith(halfDeleted)) ?? "";
    await deps.storage.delete(key);
    assert.equal((await marketplace.requestAs(by, `${path}/media/${marked}`)).status, 404);
    assert.deepEqual(await deleteUnusedMedia(deps, new Date()), { deleted: 2 });
    await assertKept();
  });

  test("a file that is being deleted can be uploaded again, with another id", async () => {
    const first = await upload("returns");
    await query("update media set deleting_at = now() where id = $1", first);
    const second = await upload("returns");
    assert.notEqual(second, first);
    assert.deepEqual(await deleteUnusedMedia(deps, new Date()), { deleted: 1 });
    await assertKept(second);
    await deleteUnusedMedia(deps, inDays(31));
  });

  test("an object that can't be deleted is tried again, and the others are deleted", async () => {
    const ids = [await upload(), await upload(), await upload()];
    const storage = {
      ...deps.storage,
      delete: (key: string) =>
        key.endsWith(String(ids[0])) ? Promise.reject(new Error("not now")) : deps.storage.delete(key),
    };
    assert.deepEqual(await deleteUnusedMedia({ ...deps, storage }, inDays(31)), { deleted: 2 });
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(31)), { deleted: 1 });
    await assertKept();
  });

  test("what a draft uses since the use was recorded isn't marked", async () => {
    const id = await upload();
    await edit({ icon: id });
    await query("update media set unused_since = now() - interval '31 days' where id = $1", id);
    const now = inDays(0);
    assert.equal(
      await markForDeletion(deps.database, { unusedSince: now, begunBefore: now, now, limit: 10 }),
      1,
      "it was looked at",
    );
    assert.deepEqual(await deleteUnusedMedia(deps, now), { deleted: 0 });
    await assertKept(id);
    await edit({ icon: null });
    await deleteUnusedMedia(deps, inDays(1));
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(32)), { deleted: 1 });
  });

  test("more than a batch is deleted in one run", async () => {
    await query(
      `insert into media (id, vendor_id, app_id, kind, object_key, sha256, content_type, bytes, created_at, stored_at, unused_since)
       select gen_random_uuid(), vendor_id, app_id, 'DOCUMENT', gen_random_uuid(), encode(sha256(gen_random_uuid()::text::bytea), 'hex'),
         'application/pdf', 1, now(), now(), now()
       from listings, generate_series(1, 450) where slug = 'tidy'`,
    );
    assert.deepEqual(await deleteUnusedMedia(deps, inDays(31)), { deleted: 450 });
  });
});
