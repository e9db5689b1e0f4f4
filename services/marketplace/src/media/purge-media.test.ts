import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage, ListingCheck } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { deleteUnusedMedia } from "./delete-unused-media.ts";
import { pdf, plain } from "./files.test-support.ts";
import { createFolderStorage } from "./folder-storage.ts";

describe("files that the public must not read any more", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let directory: string;
  let northwind: Publisher<Persona>;
  let lumen: Publisher<Persona>;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "media-"));
    cleanUp(() => rm(directory, { recursive: true, force: true }));
    marketplace = await startMarketplaceWithCallers(cleanUp, { MEDIA_DIRECTORY: directory });
    const token = (who: Persona): string => marketplace.callers.token(who);
    northwind = createPublisher(marketplace.url, token, "northwind-developer");
    lumen = createPublisher(marketplace.url, token, "lumen-developer");
  });
  const read = (id: string, init: RequestInit = {}): Promise<Response> => fetch(`${marketplace.url}/media/${id}`, init);
  const status = async (id: string, init?: RequestInit): Promise<number> => (await read(id, init)).status;
  const shown = async (slug: string): Promise<AppDto> =>
    (await (await marketplace.get(`/apps/${slug}`)).json()) as AppDto;
  const purge = (id: string): Promise<Response> =>
    northwind.request("operator", `/admin/media/${id}`, { method: "DELETE" });
  const operate = async (slug: string, action: string, body: object): Promise<void> => {
    const response = await northwind.request("operator", `/admin/apps/${slug}/${action}`, { method: "POST", body });
    assert.equal(response.status, 200, await response.clone().text());
  };

  const refused = async (who: Persona, slug: string, kind: string, body: Buffer): Promise<void> => {
    const headers = { "content-type": kind === "document" ? "application/pdf" : "image/png" };
    const response = await northwind.request(who, `/developer/apps/${slug}/media?kind=${kind}`, { body, headers });
    await assertProblem(response, 422, "unusable-file");
  };

  test("files of a suspended app are 410 at once, and 200 again once it is reinstated", async () => {
    await northwind.publish("gone-for-now");
    const icon = (await shown("gone-for-now")).iconUrl.split("/").at(-1) ?? "";
    const found = await read(icon);
    assert.equal(found.headers.get("cache-control"), "public, max-age=3600, must-revalidate");
    const headers = { "if-none-match": found.headers.get("etag") ?? "" };
    assert.equal(await status(icon, { headers }), 304);

    await operate("gone-for-now", "suspend", { reason: "Its icon is another company's" });
    const gone = await read(icon);
    assert.equal(gone.headers.get("cache-control"), "no-store");
    await assertProblem(gone, 410, "media-gone");
    assert.equal(await status(icon, { headers }), 410);
    assert.equal(await status(icon, { method: "HEAD" }), 410);
    const own = await northwind.request("northwind-developer", `/developer/apps/gone-for-now/media/${icon}`);
    assert.equal(own.status, 200, "its vendor can read it");

    await operate("gone-for-now", "reinstate", {});
    assert.equal(await status(icon, { headers }), 304);
  });

  test("a purged file is gone in every listing of its vendor, which can't upload it again", async () => {
    const picture = await plain(640, 400, "rgb(9, 9, 9)").png().toBuffer();
    const copies: string[] = [];
    for (const slug of ["purged-here", "purged-there"]) {
      await northwind.create(slug);
      const { id } = await northwind.upload(slug, "screenshot", picture);
      const other = await northwind.upload(slug, "screenshot");
      const icon = await northwind.upload(
        slug,
        "icon",
        await plain(512, 512, slug.endsWith("here") ? "red" : "blue")
          .png()
          .toBuffer(),
      );
      await northwind.edit(slug, {
        icon: icon.id,
        screenshots: [
          { media: id, text: "A patient's name" },
          { media: other.id, text: "A note" },
        ],
      });
      await northwind.approve(await northwind.submit(slug));
      assert.deepEqual(await status(id), 200);
      copies.push(id);
    }
    const [here = "", there = ""] = copies;
    const objects = async (): Promise<string[]> =>
      (await readdir(join(directory, "objects"))).map((key) => key.slice(65));
    assert.ok((await objects()).includes(there));

    assert.equal((await purge(here)).status, 204);
    for (const id of copies) {
      await assertProblem(await read(id), 410, "media-gone");
      assert.ok(!(await objects()).includes(id), "its bytes are deleted");
    }
    const own = await northwind.request("northwind-developer", `/developer/apps/purged-here/media/${here}`);
    await assertProblem(own, 410, "media-gone");
    for (const slug of ["purged-here", "purged-there"]) {
      await eventually("the catalog shows one screenshot less", 30_000, async () => {
        const { screenshots, screenshotTexts } = await shown(slug);
        return screenshots.length === 1 && screenshotTexts.length === 1 && screenshotTexts[0] === "A note";
      });
    }
    const check = await northwind.request("northwind-developer", "/developer/apps/purged-here/check");
    const { problems } = (await check.json()) as ListingCheck;
    assert.ok(problems.some(({ pointer, code }) => code === "media-unknown" && pointer === "/screenshots/0/media"));

    await refused("northwind-developer", "purged-here", "screenshot", picture);
    // Other bytes with the same pixels.
    const resaved = await plain(640, 400, "rgb(9, 9, 9)").png({ compressionLevel: 1 }).toBuffer();
    assert.notDeepEqual(resaved, picture);
    await northwind.create("purged-elsewhere");
    await refused("northwind-developer", "purged-elsewhere", "screenshot", resaved);

    const repeated = await purge(there);
    assert.equal(repeated.status, 204, "it is purged already");
    const audit = await northwind.request("operator", "/admin/audit?action=media.purge");
    const { items } = (await audit.json()) as AuditPage;
    assert.deepEqual(
      new Set(
        items.map(({ onBehalfOf, target, before: file }) =>
          JSON.stringify([onBehalfOf, target.id, (file as { id: string }).id]),
        ),
      ),
      new Set([
        JSON.stringify(["vendor:northwind-health", "purged-there", there]),
        JSON.stringify(["vendor:northwind-health", "purged-here", here]),
      ]),
    );
    assert.equal(items.length, 2);

    // The daily job keeps the rows, by which the file is known.
    const { database } = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    await deleteUnusedMedia(
      {
        database,
        storage: createFolderStorage(directory),
        logger: createLogger({ service: "test", level: "fatal" }),
        stopped: new AbortController().signal,
      },
      new Date(Date.now() + 90 * 86_400_000),
    );
    await refused("northwind-developer", "purged-here", "screenshot", picture);
    for (const statement of ["delete from media where id = $1", "update media set purged_at = null where id = $1"]) {
      const undone = withClient(marketplace.database.ownerUrl, (client) => client.query(statement, [here]));
      await assert.rejects(undone, /is purged for ever/);
    }
  });

  test("a vendor keeps its files when an impostor's copies of them are purged, and can upload them again", async () => {
    await northwind.create("original");
    const icon = await northwind.upload("original", "icon", await plain(640, 640, "rgb(7, 8, 9)").png().toBuffer());
    const baa = await northwind.upload("original", "document", pdf("the original's"));
    await northwind.edit("original", { icon: icon.id, baaDocument: baa.id });
    await northwind.approve(await northwind.submit("original"));
    await northwind.create("original-too");
    await lumen.create("impostor");
    await lumen.create("impostor-too");

    for (const [kind, { id }] of [
      ["icon", icon],
      ["document", baa],
    ] as const) {
      const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());
      const bytes = await bytesOf(await read(id));
      const copy = await lumen.upload("impostor", kind, bytes);
      const stored = await lumen.request("lumen-developer", `/developer/apps/impostor/media/${copy.id}`);
      assert.deepEqual(await bytesOf(stored), bytes, "encoding it again changes nothing");

      assert.equal((await purge(copy.id)).status, 204);
      const kept = await read(id);
      assert.equal(kept.status, 200);
      assert.deepEqual(await bytesOf(kept), bytes);
      assert.equal((await northwind.upload("original", kind, bytes)).id, id);
      await northwind.upload("original-too", kind, bytes);
      for (const slug of ["impostor", "impostor-too"]) await refused("lumen-developer", slug, kind, bytes);
    }
    const { iconUrl } = await shown("original");
    assert.ok(iconUrl.endsWith(icon.id));

    assert.equal((await purge(icon.id)).status, 204, "an operator who wants it gone everywhere purges each");
    assert.equal(await status(icon.id), 410);
  });

  test("a purged icon is replaced in the catalog, a purged agreement stays named and can't be read", async () => {
    await northwind.create("no-icon");
    const icon = await northwind.upload("no-icon", "icon", await plain(600, 600, "rgb(4, 5, 6)").png().toBuffer());
    const baa = await northwind.upload("no-icon", "document", pdf("another company's"));
    await northwind.edit("no-icon", { icon: icon.id, baaDocument: baa.id });
    await northwind.approve(await northwind.submit("no-icon"));
    for (const { id } of [icon, baa]) assert.equal((await purge(id)).status, 204);
    await eventually("the catalog shows another icon", 30_000, async () =>
      (await shown("no-icon")).iconUrl.endsWith("/media/sandbox-icon.png"),
    );
    const { baaUrl, baaRequired } = await shown("no-icon");
    assert.deepEqual([baaUrl?.endsWith(baa.id), baaRequired], [true, true]);
    assert.equal(await status(baa.id), 410);
    const listing = await northwind.request("northwind-developer", "/developer/apps/no-icon/submit", {
      method: "POST",
    });
    assert.equal(listing.status, 422, "its vendor has to replace them first");
  });

  test("a file whose upload has not ended can be purged, too", async () => {
    await northwind.create("purged-meanwhile");
    const first = await northwind.upload("purged-meanwhile", "document", pdf("meanwhile"));
    // As if the process had died, or still were at it, between the row and the object.
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("update media set stored_at = null where id = $1", [first.id]),
    );
    assert.equal((await purge(first.id)).status, 204);
    await assertProblem(await purge("00000000-0000-7000-8000-000000000000"), 404, "media-not-found");
    await refused("northwind-developer", "purged-meanwhile", "document", pdf("meanwhile"));
  });
});
