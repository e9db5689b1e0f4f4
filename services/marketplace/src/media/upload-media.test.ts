import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open as openFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { AuditPage, ListingCheck, ListingDto, MediaDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, isFullRun, readResponse, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import sharp from "sharp";
import { animation, emptyZip, pdf, plain, pngBomb } from "./files.test-support.ts";

describe("uploading media", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let directory: string;
  type Who = Parameters<MarketplaceWithCallers["requestAs"]>[0];
  const vendor: Who = "northwind-developer";
  const apps = "/developer/apps";
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "media-"));
    cleanUp(() => rm(directory, { recursive: true, force: true }));
    marketplace = await startMarketplaceWithCallers(cleanUp, {
      MEDIA_DIRECTORY: directory,
      PUBLIC_URL: "https://market.example",
    });
    await create("pictured");
  });
  const create = async (slug: string): Promise<void> => {
    const response = await marketplace.requestAs(vendor, apps, { body: { slug, name: slug } });
    assert.equal(response.status, 201, await response.clone().text());
  };
  const upload = (
    kind: string,
    contentType: string,
    body: Uint8Array,
    { slug = "pictured", by = vendor }: { slug?: string; by?: Who } = {},
  ): Promise<Response> =>
    marketplace.requestAs(by, `${apps}/${slug}/media?kind=${kind}`, {
      body,
      headers: { "content-type": contentType },
    });
  const uploaded = async (...sent: Parameters<typeof upload>): Promise<MediaDto> => {
    const response = await upload(...sent);
    assert.equal(response.status, 201, await response.clone().text());
    const media = (await response.json()) as MediaDto;
    assertShape("MediaDto", media);
    return media;
  };
  const read = (id: string, by: Who = vendor, slug = "pictured"): Promise<Response> =>
    marketplace.requestAs(by, `${apps}/${slug}/media/${id}`);
  const stored = async (id: string): Promise<Buffer> => {
    const response = await read(id);
    assert.equal(response.status, 200, await response.clone().text());
    return Buffer.from(await response.arrayBuffer());
  };
  const refused = async (detail: RegExp, ...sent: Parameters<typeof upload>): Promise<void> => {
    const response = await upload(...sent);
    const problem = (await response.clone().json()) as { detail: string };
    await assertProblem(response, 422, "unusable-file");
    assert.match(problem.detail, detail);
  };
  const query = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(marketplace.database.ownerUrl, (client) => client.query<T>(sql, values))).rows;

  test("an icon becomes a PNG of 512 × 512 pixels, a screenshot a WebP at most 1920 wide, a PDF stays as it is", async () => {
    const icon = await uploaded("icon", "image/jpeg", await plain(700, 700).jpeg().toBuffer());
    assert.deepEqual(icon, {
      id: icon.id,
      url: `https://market.example/media/${icon.id}`,
      width: 512,
      height: 512,
      contentType: "image/png",
      bytes: icon.bytes,
    });
    const { format, width } = await sharp(await stored(icon.id)).metadata();
    assert.deepEqual([format, width], ["png", 512]);

    const screenshot = await uploaded("screenshot", "image/png", await plain(3_840, 2_160).png().toBuffer());
    assert.deepEqual([screenshot.contentType, screenshot.width, screenshot.height], ["image/webp", 1_920, 1_080]);
    const small = await uploaded("screenshot", "image/webp", await plain(320, 200).webp().toBuffer());
    assert.deepEqual([small.width, small.height], [320, 200]);

    const document = await uploaded("document", "application/pdf", pdf());
    assert.deepEqual([document.width, document.height, document.bytes], [null, null, pdf().length]);
    assert.deepEqual(await stored(document.id), pdf());
  });

  test("without a kind, a PDF is a document, a picture that can be an icon is one, and any other is a screenshot", async () => {
    await create("unsaid");
    for (const [kind, contentType, file] of [
      ["icon", "image/jpeg", await plain(640, 640).jpeg().toBuffer()],
      ["screenshot", "image/png", await plain(500, 500).png().toBuffer()],
      ["screenshot", "image/png", await plain(640, 512).png().toBuffer()],
      ["document", "application/pdf", pdf("unsaid")],
    ] as const) {
      const derived = await uploaded("", contentType, file, { slug: "unsaid" });
      assert.deepEqual(await uploaded(kind, contentType, file, { slug: "unsaid" }), derived, kind);
    }
  });

  test("is recorded in the audit log, once for the same file, which keeps its id", async () => {
    await create("twice");
    const file = await plain(600, 600, "rgb(1, 2, 3)").png().toBuffer();
    const [first, ...others] = await Promise.all(
      [1, 2].map(() => uploaded("icon", "image/png", file, { slug: "twice" })),
    );
    others.push(await uploaded("icon", "image/png", file, { slug: "twice" }));
    for (const other of others) assert.deepEqual(other, first);
    const asScreenshot = await uploaded("screenshot", "image/png", file, { slug: "twice" });
    assert.notEqual(asScreenshot.id, first?.id);
    const page = (await (
      await marketplace.requestAs("operator", "/admin/audit?action=media.upload")
    ).json()) as AuditPage;
    const entries = page.items.filter(({ target }) => target.id === "twice");
    assert.deepEqual(
      entries.map(({ after }) => (after as { id: string }).id),
      [asScreenshot.id, first?.id],
    );
  });

  test("nothing of a picture is left but what one sees: no EXIF, no GPS, no appended archive; it is upright", async () => {
    const photo = await plain(800, 600)
      .jpeg()
      .withExif({ IFD0: { Artist: "Tess Tester" }, IFD3: { GPSLatitude: "51/1 30/1 0/1", GPSLatitudeRef: "N" } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    assert.ok((await sharp(photo).metadata()).exif !== undefined);
    const media = await uploaded("screenshot", "image/jpeg", photo);
    assert.deepEqual([media.width, media.height], [600, 800]);
    const { exif, xmp, icc, iptc } = await sharp(await stored(media.id)).metadata();
    assert.deepEqual([exif, xmp, icc, iptc], [undefined, undefined, undefined, undefined]);
    assert.ok(!(await stored(media.id)).includes("Tess Tester"));

    const polyglot = Buffer.concat([
      await plain(640, 480).png().toBuffer(),
      Buffer.from("<script>x</script>"),
      emptyZip,
    ]);
    const clean = await stored((await uploaded("screenshot", "image/png", polyglot)).id);
    assert.ok(!clean.includes("script") && !clean.includes("PK\x05\x06"));
  });

  test("refuses files that can't be used, and says what to do", async () => {
    const png = await plain(600, 600).png().toBuffer();
    const jpeg = await sharp({
      create: {
        width: 900,
        height: 900,
        channels: 3,
        background: "red",
        noise: { type: "gaussian", mean: 128, sigma: 30 },
      },
    })
      .jpeg()
      .toBuffer();
    const webp = await plain(900, 900).webp({ lossless: true }).toBuffer();
    const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);
    const html = Buffer.from("<!doctype html><script>alert(1)</script>");

    await refused(/512/, "icon", "image/png", await plain(700, 600).png().toBuffer());
    await refused(/512/, "icon", "image/png", await plain(500, 500).png().toBuffer());
    await refused(/damaged/, "screenshot", "image/jpeg", half(jpeg));
    await refused(/damaged/, "screenshot", "image/png", half(png));
    await refused(/damaged/, "screenshot", "image/webp", half(webp));
    await refused(/damaged/, "screenshot", "image/png", png.subarray(0, 20));
    await refused(/isn't a PNG/, "screenshot", "image/png", html);
    await refused(/isn't a PNG/, "screenshot", "image/png", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    await refused(/isn't a PNG/, "screenshot", "image/png", await plain(10, 10).gif().toBuffer());
    await refused(/Content-Type says image\/jpeg/, "screenshot", "image/jpeg", png);
    await refused(/a PDF/, "document", "image/png", png);
    await refused(/PNG, JPEG or WebP/, "icon", "application/pdf", pdf());
    await refused(/animated/, "screenshot", "image/webp", await animation());

    await refused(/isn't a PDF/, "document", "application/pdf", Buffer.concat([html, pdf()]));
    await refused(/incomplete/, "document", "application/pdf", pdf().subarray(0, 20));
    await refused(/after its end/, "document", "application/pdf", Buffer.concat([pdf(), emptyZip]));
    await refused(
      /something else/,
      "document",
      "application/pdf",
      Buffer.concat([pdf(), emptyZip, Buffer.from("%%EOF")]),
    );
    await refused(/something else/, "document", "application/pdf", Buffer.from("%PDF-1.4\n<HTML><body>\n%%EOF"));
  });

  test("refuses decompression bombs at once, with little memory", async () => {
    for (const bomb of [pngBomb(30_000, 30_000), pngBomb(30_000, 30_000, 10), pngBomb(100_000, 401)]) {
      assert.ok(bomb.length < 200_000);
      const rss = process.memoryUsage().rss;
      await refused(/40 million/, "screenshot", "image/png", bomb);
      // In the gate, other tests have used this process.
      if (isFullRun) assert.ok(process.memoryUsage().rss - rss < 300 * 1_048_576);
    }
    // Within the limit, but with fewer pixels than it declares.
    await refused(/damaged/, "screenshot", "image/png", pngBomb(6_000, 6_000, 10));
  });

  test("refuses other media types with 415, and names those that it accepts", async () => {
    for (const type of ["image/svg+xml", "image/gif", "application/json", "text/html", "application/octet-stream"]) {
      const response = await upload("icon", type, Buffer.from("{}"));
      assert.equal(response.headers.get("accept"), "image/png, image/jpeg, image/webp, application/pdf");
      await assertProblem(response, 415, "unsupported-media-type");
    }
  });

  test("refuses more than 5 MiB, no body, and no or another kind", async () => {
    const most = 5 * 1_048_576;
    const large = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(most - 15, " "), Buffer.from("%%EOF\n")]);
    assert.equal(large.length, most);
    await uploaded("document", "application/pdf", large);
    await assertProblem(
      await upload("document", "application/pdf", Buffer.concat([large, Buffer.from("\n")])),
      413,
      "payload-too-large",
    );
    await assertProblem(await upload("document", "application/pdf", new Uint8Array()), 400, "invalid-request");
    await assertProblem(await upload("logo", "application/pdf", pdf()), 400, "invalid-request");
  });

  test("nobody but the vendor can read or add to it before it is published; then anyone can", async () => {
    const { id } = await uploaded("document", "application/pdf", pdf("own"));
    await create("other-listing");
    await assertProblem(await read(id, "lumen-developer"), 404, "listing-not-found");
    await assertProblem(await read(id, vendor, "other-listing"), 404, "media-not-found");
    await assertProblem(
      await upload("document", "application/pdf", pdf(), { by: "lumen-developer" }),
      404,
      "listing-not-found",
    );
    const own = await read(id);
    assert.equal(own.headers.get("cache-control"), "no-store");
    assert.equal(own.headers.get("content-disposition"), `attachment; filename="${id}.pdf"`);
    assert.equal(own.headers.get("x-content-type-options"), "nosniff");
    assert.equal(own.headers.get("content-security-policy"), "default-src 'none'; sandbox");

    const get = (path: string, headers = {}): Promise<Response> =>
      fetch(`${marketplace.url}/media/${path}`, { headers });
    await assertProblem(await get(id), 404, "media-not-found");
    const [key] = await readdir(join(directory, "objects"));
    for (const path of ["objects", `objects/${key}/content`, `objects%2F${key}%2Fcontent`, ".", "..%2Fetc%2Fpasswd"]) {
      assert.equal((await get(path)).status, 404, path);
    }
    await query("update media set published_at = now() where id = $1", id);
    const found = await get(id.toUpperCase());
    assert.equal(found.status, 200);
    assert.equal(found.headers.get("cache-control"), "public, max-age=3600, must-revalidate");
    assert.equal(found.headers.get("access-control-allow-origin"), "*");
    assert.deepEqual(Buffer.from(await found.arrayBuffer()), pdf("own"));
    const etag = found.headers.get("etag") ?? "";
    assert.equal((await get(id, { "if-none-match": etag })).status, 304);
    const head = await fetch(`${marketplace.url}/media/${id}`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(pdf("own").length)]);
  });

  test("the check of a draft knows the listing's media, their kinds and sizes", async () => {
    await create("checked-media");
    const slug = "checked-media";
    const icon = await uploaded("icon", "image/png", await plain(512, 512).png().toBuffer(), { slug });
    const shot = await uploaded("screenshot", "image/png", await plain(640, 400).png().toBuffer(), { slug });
    const tiny = await uploaded("screenshot", "image/png", await plain(10, 10).png().toBuffer(), { slug });
    const elsewhere = await uploaded("document", "application/pdf", pdf("elsewhere"));
    const edit = async (body: object): Promise<string[]> => {
      const listing = await marketplace.requestAs(vendor, `${apps}/${slug}`);
      const headers = { "if-match": listing.headers.get("etag") ?? "" };
      const patched = await marketplace.requestAs(vendor, `${apps}/${slug}`, { method: "PATCH", body, headers });
      assert.equal(patched.status, 200, await patched.clone().text());
      assert.ok(((await patched.json()) as ListingDto).draft);
      const check = (await (await marketplace.requestAs(vendor, `${apps}/${slug}/check`)).json()) as ListingCheck;
      return check.problems
        .filter(({ code }) => /media|icon|screenshot/.test(code))
        .map(({ pointer, code }) => `${pointer} ${code}`);
    };
    const screenshots = [{ media: shot.id, text: "A note" }];
    assert.deepEqual(await edit({ icon: icon.id, screenshots }), []);
    assert.deepEqual(await edit({ screenshots: [...screenshots, { media: tiny.id, text: "A note" }] }), [
      "/screenshots/1/media screenshot-too-small",
    ]);
    assert.deepEqual(await edit({ icon: shot.id, screenshots, baaDocument: elsewhere.id }), [
      "/icon media-unsuitable",
      "/baaDocument media-unknown",
    ]);
  });

  test("limits the files of a listing, and the uploads of a vendor in a day", async () => {
    await create("crowded");
    const fill = (files: number, age: string): Promise<unknown> =>
      query(
        `insert into media (id, vendor_id, app_id, kind, object_key, sha256, content_type, bytes, created_at, stored_at, unused_since)
         select gen_random_uuid(), vendor_id, app_id, 'DOCUMENT', gen_random_uuid(), encode(sha256(gen_random_uuid()::text::bytea), 'hex'),
           'application/pdf', 1, now() - $2::interval, now(), now()
         from listings, generate_series(1, $1::integer) where slug = 'crowded'`,
        files,
        age,
      );
    const send = (): Promise<Response> => upload("document", "application/pdf", pdf(randomUUID()), { slug: "crowded" });
    await fill(500, "2 days");
    await assertProblem(await send(), 409, "too-many-media");
    await query(
      "update media set deleting_at = now() where app_id = (select app_id from listings where slug = 'crowded')",
    );
    assert.equal((await send()).status, 201);
    await fill(490, "1 hour");
    let response = await send();
    for (let sent = 0; response.status === 201 && sent < 12; sent += 1) response = await send();
    assert.ok(Number(response.headers.get("retry-after")) > 80_000 - 3_600);
    await assertProblem(response, 429, "too-many-uploads");
    await query("delete from media where app_id = (select app_id from listings where slug = 'crowded')");
  });

  test("a file that is sent again isn't decoded again, and whatever is decoded counts toward the day's uploads", async () => {
    await create("repeated");
    const vendorId = "(select vendor_id from listings where slug = 'repeated')";
    const icon = await plain(520, 520, "rgb(9, 9, 9)").png().toBuffer();
    const first = await uploaded("icon", "image/png", icon, { slug: "repeated" });
    // Beside the stored rows of this test's vendor.
    await query(`insert into unstored_uploads select ${vendorId}, now() from generate_series(1, 500)`);
    const response = await upload("icon", "image/png", await plain(530, 530).png().toBuffer(), { slug: "repeated" });
    assert.ok(Number(response.headers.get("retry-after")) > 80_000);
    await assertProblem(response, 429, "too-many-uploads");
    assert.deepEqual(await uploaded("icon", "image/png", icon, { slug: "repeated" }), first);
    await query("delete from unstored_uploads");

    await refused(/damaged/, "icon", "image/png", icon.subarray(0, 60), { slug: "repeated" });
    // Other bytes of the same picture.
    const appended = Buffer.concat([icon, Buffer.from("x")]);
    assert.deepEqual(await uploaded("icon", "image/png", appended, { slug: "repeated" }), first);
    const [{ count } = { count: 0 }] = await query<{ count: number }>(
      "select count(*)::int as count from unstored_uploads",
    );
    assert.equal(count, 2, "each was decoded");
  });

  test("a vendor's pictures are decoded one at a time: another vendor's needn't wait for the second", async () => {
    const other: Who = "lumen-developer";
    const created = await marketplace.requestAs(other, apps, { body: { slug: "unhurried", name: "Unhurried" } });
    assert.equal(created.status, 201, await created.clone().text());
    const large = await Promise.all([1, 2].map((shade) => plain(6_000, 6_000, `rgb(${shade}, 0, 0)`).png().toBuffer()));
    const done: string[] = [];
    await Promise.all([
      ...large.map(async (bytes) => done.push((await uploaded("screenshot", "image/png", bytes)).id)),
      uploaded("icon", "image/png", await plain(512, 512, "rgb(7, 7, 7)").png().toBuffer(), {
        slug: "unhurried",
        by: other,
      }).then(() => done.push("other")),
    ]);
    assert.notEqual(done.at(-1), "other");
  });

  test("a vendor has two uploads at once, and a connection that closes early gives its slot back", async () => {
    const { port } = new URL(marketplace.url);
    const token = marketplace.callers.token(vendor);
    const open = (): Socket => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(
        `POST /api/v1${apps}/pictured/media?kind=document HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
          "Content-Type: application/pdf\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
      );
      return socket;
    };
    /** The server sends 100 when it has read the headers. */
    const openUntilRead = async (): Promise<Socket> => {
      const socket = open();
      const [sent] = (await once(socket, "data")) as [Buffer];
      assert.match(String(sent), /^HTTP\/1.1 100 /);
      return socket;
    };
    const send = (): Promise<Response> => upload("document", "application/pdf", pdf("slots"));
    for (let round = 0; round < 3; round += 1) {
      const sockets = [await openUntilRead(), await openUntilRead()];
      await eventually("both slots are taken", 30_000, async () => (await send()).status === 429);
      const response = await send();
      assert.equal(response.headers.get("retry-after"), "1");
      await assertProblem(response, 429, "too-many-uploads");
      for (const socket of sockets) socket.destroy();
      await eventually("the slots are released", 30_000, async () => (await send()).status === 201);
    }
    // Closed before the server has read the request.
    for (let nth = 0; nth < 50; nth += 1) open().end().destroy();
    await eventually("no slot is lost", 30_000, async () => {
      const both = await Promise.all([send(), send()]);
      return both.every(({ status }) => status === 201);
    });
  });

  test("slow senders of one vendor leave slots to the others", async () => {
    const { port } = new URL(marketplace.url);
    const token = marketplace.callers.token("operator");
    const sockets: Socket[] = [];
    cleanUp(async () => {
      for (const socket of sockets) socket.destroy();
    });
    for (const slug of ["lumen-systems", "lumen-systems", "kestrel", "kestrel", "harbor", "harbor"]) {
      const socket = connect(Number(port), "127.0.0.1");
      sockets.push(socket);
      socket.write(
        `POST /api/v1${apps}/anything/media?kind=document HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
          `X-Vendor-Slug: ${slug}\r\nContent-Type: application/pdf\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
      );
      const [sent] = (await once(socket, "data")) as [Buffer];
      assert.match(String(sent), /^HTTP\/1.1 100 /);
    }
    const both = await Promise.all(["one", "two"].map((text) => upload("document", "application/pdf", pdf(text))));
    assert.deepEqual(
      both.map(({ status }) => status),
      [201, 201],
    );
  });

  test("a file may take longer to send and to read than other requests", async () => {
    const slow = await startMarketplaceWithCallers(cleanUp, {
      MEDIA_DIRECTORY: directory,
      PUBLIC_URL: "https://market.example",
      REQUEST_TIMEOUT_MS: "4000",
    });
    const { port } = new URL(slow.url);
    const token = slow.callers.token(vendor);
    const created = await slow.requestAs(vendor, apps, { body: { slug: "slow", name: "Slow" } });
    assert.equal(created.status, 201, await created.clone().text());
    const open = (method: string, path: string, contentType: string, length: number): Socket => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `${method} /api/v1${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: ${contentType}\r\nContent-Length: ${length}\r\n\r\n`,
      );
      return socket;
    };
    /** Another request that began now has timed out. */
    const waitForTimeout = async (): Promise<void> => {
      await assertProblem(await readResponse(open("POST", apps, "application/json", 2)), 408, "request-timeout");
    };
    const file = pdf("slowly");
    const sending = open("POST", `${apps}/slow/media?kind=document`, "application/pdf", file.length);
    const response = readResponse(sending);
    sending.write(file.subarray(0, 10));
    await waitForTimeout();
    sending.write(file.subarray(10));
    assert.equal((await response).status, 201);
    const { id } = (await (await response).json()) as MediaDto;

    const [{ object_key: key } = assert.fail()] = await withClient(slow.database.ownerUrl, async (client) => {
      return (await client.query<{ object_key: string }>("select object_key from media where id = $1", [id])).rows;
    });
    // The storage delivers the file as slowly as the test writes it.
    const content = join(directory, "objects", key, "content");
    await rm(content);
    execFileSync("mkfifo", [content]);
    const reading = slow.requestAs(vendor, `${apps}/slow/media/${id}`);
    const writer = await openFile(content, "w");
    await writer.write(file.subarray(0, 10));
    const download = await reading;
    await waitForTimeout();
    await writer.write(file.subarray(10));
    await writer.close();
    assert.deepEqual(Buffer.from(await download.arrayBuffer()), file);
  });

  test("where the storage fails, the response is 503, and the same upload succeeds later", async () => {
    const broken = await mkdtemp(join(tmpdir(), "media-"));
    cleanUp(() => rm(broken, { recursive: true, force: true }));
    const callers = await startMarketplaceWithCallers(cleanUp, { MEDIA_DIRECTORY: broken });
    await writeFile(join(broken, "objects"), "in the way");
    assert.equal((await callers.requestAs(vendor, apps, { body: { slug: "broken", name: "B" } })).status, 201);
    const send = (): Promise<Response> =>
      callers.requestAs(vendor, `${apps}/broken/media?kind=document`, {
        body: pdf(),
        headers: { "content-type": "application/pdf" },
      });
    await assertProblem(await send(), 503, "unavailable");
    await rm(join(broken, "objects"));
    const response = await send();
    assert.equal(response.status, 201);
    const [key = ""] = await readdir(join(broken, "objects"));
    assert.deepEqual(await readFile(join(broken, "objects", key, "content")), pdf());
  });
});
