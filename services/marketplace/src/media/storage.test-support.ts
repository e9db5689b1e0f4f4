import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter } from "@ehr-marketplace/test-kit";
import type { MediaStorage } from "./media-storage.ts";

export interface StartedStorage {
  storage: MediaStorage;
  /** Names of everything that is stored. */
  list(): Promise<string[]>;
}

export const pdf = (bytes: Buffer) => ({ bytes, contentType: "application/pdf" });
export const keyOf = (bytes: Buffer): string => `${createHash("sha256").update(bytes).digest("hex")}-${randomUUID()}`;
const readAll = async (stream: Readable | undefined): Promise<Buffer | undefined> =>
  stream === undefined ? undefined : buffer(stream);

/** What every storage of media guarantees. */
export function testStorage(name: string, start: (cleanUp: CleanUp) => Promise<StartedStorage>): void {
  describe(`media in ${name}`, () => {
    const cleanUp = cleanUpAfter();
    let started: StartedStorage;
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
