import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createBucketStorage } from "./bucket-storage.ts";
import { createFolderStorage } from "./folder-storage.ts";
import { keyOf, pdf, testStorage } from "./storage.test-support.ts";

testStorage("a folder", async (cleanUp) => {
  const directory = await mkdtemp(join(tmpdir(), "media-"));
  cleanUp(() => rm(directory, { recursive: true, force: true }));
  return { storage: createFolderStorage(directory), list: () => readdir(join(directory, "objects")) };
});

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
