import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createBucketStorage } from "./bucket-storage.ts";
import { createFolderStorage } from "./folder-storage.ts";
import type { MediaStorage } from "./media-storage.ts";
import { startVersityGw } from "./versitygw.test-support.ts";

interface Started {
  storage: MediaStorage;
  /** Names of everything that is stored. */
  list(): Promise<string[]>;
}

async function startFolder(cleanUp: CleanUp): Promise<Started> {
  const directory = await mkdtemp(join(tmpdir(), "media-"));
  cleanUp(() => rm(directory, { recursive: true, force: true }));
  return { storage: createFolderStorage(directory), list: () => readdir(join(directory, "objects")) };
}

async function startBucket(cleanUp: CleanUp): Promise<Started> {
  const { folder, ...config } = await startVersityGw(cleanUp);
  const storage = createBucketStorage(config);
  cleanUp(async () => storage.stop());
  return { storage, list: async () => (await readdir(folder)).filter((name) => !name.startsWith(".")) };
}

const pdf = (bytes: Buffer) => ({ bytes, contentType: "application/pdf" });
const keyOf = (bytes: Buffer): string => `${createHash("sha256").update(bytes).digest("hex")}-${randomUUID()}`;
const readAll = async (stream: Readable | undefined): Promise<Buffer | undefined> =>
  stream === undefined ? undefined : buffer(stream);

for (const [name, start] of [
  ["a folder", startFolder],
  ["a bucket of VersityGW", startBucket],
] as const) {
  describe(`media in ${name}`, () => {
    const cleanUp = cleanUpAfter();
    let started: Started;
    before(async () => {
      started = await start(cleanUp);
    });

    test("is read as it was stored, also when it was stored twice, and by many at once", async () => {
      const bytes = randomBytes(5 * 1_048_576);
      const key = keyOf(bytes);
      await Promise.all([1, 2].map(() => started.storage.put(key, pdf(bytes))));
      const copies = await Promise.all(
        Array.from({ length: 10 }, async () => readAll(await started.storage.read(key))),
      );
      for (const copy of copies) assert.ok(copy?.equals(bytes));
    });

    test("is gone once it is deleted; what doesn't exist can be read and deleted without an error", async () => {
      const bytes = Buffer.from("short");
      const key = keyOf(bytes);
      assert.equal(await started.storage.read(key), undefined);
      await started.storage.delete(key);
      await started.storage.put(key, pdf(bytes));
      assert.ok((await started.list()).includes(key));
      await started.storage.delete(key);
      await started.storage.delete(key);
      assert.equal(await started.storage.read(key), undefined);
      assert.ok(!(await started.list()).includes(key));
    });

    test("a reader that stops early leaves nothing open", async () => {
      const bytes = randomBytes(5 * 1_048_576);
      const key = keyOf(bytes);
      await started.storage.put(key, pdf(bytes));
      for (let nth = 0; nth < 120; nth += 1) {
        const stream = await started.storage.read(key);
        assert.ok(stream !== undefined);
        stream.on("error", () => undefined);
        stream.destroy();
      }
      assert.ok((await readAll(await started.storage.read(key)))?.equals(bytes));
    });

    test("refuses keys that could name another file", async () => {
      for (const key of ["../secret", "a/b", "", ".", "A", "a".repeat(201)]) {
        await assert.rejects(async () => started.storage.put(key, pdf(Buffer.from("x"))), /not a key/);
        await assert.rejects(async () => started.storage.read(key), /not a key/);
        await assert.rejects(async () => started.storage.delete(key), /not a key/);
      }
    });
  });
}

test("deleting an object of a folder also deletes what a process that died while it wrote has left", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const directory = await mkdtemp(join(tmpdir(), "media-"));
  cleanUp(() => rm(directory, { recursive: true, force: true }));
  const key = keyOf(Buffer.from("half"));
  await mkdir(join(directory, "objects", key), { recursive: true });
  await writeFile(join(directory, "objects", key, randomUUID()), "ha");
  const storage = createFolderStorage(directory);
  assert.equal(await storage.read(key), undefined);
  await storage.delete(key);
  assert.deepEqual(await readdir(join(directory, "objects")), []);
});

test("a bucket's server that accepts connections and never responds fails within its deadline", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const server = createServer((socket) => socket.on("error", () => undefined));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => server.close());
  const { port } = server.address() as { port: number };
  const storage = createBucketStorage({
    bucket: "media",
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  });
  const began = performance.now();
  await assert.rejects(storage.put("0".repeat(64), pdf(Buffer.from("x"))));
  assert.ok(performance.now() - began < 30_000);
  storage.stop();
});
