import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { eventually } from "@ehr-marketplace/test-kit";
import { interlaced16Bit, plain, withChunks, withScans, withTexts } from "./files.test-support.ts";
import { UnusablePictureError } from "./picture.ts";
import { decodeOutside } from "./picture-decoder.ts";

const maxCpuMs = 60_000;
const decode = (mediaType: string, bytes: Buffer) => decodeOutside({ bytes, mediaType, kind: "screenshot", maxCpuMs });
const isUnusable =
  (reason: RegExp) =>
  (error: unknown): boolean =>
    error instanceof UnusablePictureError && reason.test(error.message);

for (const [what, mediaType, makeUsual, makeExcessive] of [
  ["scans", "image/jpeg", () => withScans(10), () => withScans(300)],
  ["chunks besides its pixels", "image/png", () => withTexts(8), () => withTexts(600)],
  ["chunks", "image/webp", () => withChunks(20), () => withChunks(100)],
] as const) {
  test(`a picture with some ${what} is decoded, one with more than any encoder writes is refused before`, async () => {
    assert.equal((await decode(mediaType, await makeUsual())).contentType, "image/webp");
    await assert.rejects(decode(mediaType, await makeExcessive()), isUnusable(new RegExp(`more than 64 ${what}`)));
  });
}

test("a large interlaced picture with 16 bits per colour is refused before it is decoded", async () => {
  await assert.rejects(decode("image/png", interlaced16Bit(3_000, 2_000)), isUnusable(/Export it with 8 bits/));
  await assert.rejects(decode("image/png", interlaced16Bit(300, 200)), isUnusable(/damaged/), "small ones are decoded");
});

/** The ids of the decoders that this process has started. */
async function findDecoders(): Promise<number[]> {
  const found: number[] = [];
  for (const id of (await readdir("/proc")).map(Number).filter((each) => each > 0)) {
    const [stat, command] = await Promise.all(
      ["stat", "cmdline"].map((name) => readFile(`/proc/${id}/${name}`, "utf8").catch(() => "")),
    );
    const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent === process.pid && command?.includes("decode-picture.process")) found.push(id);
  }
  return found;
}

test("a decoder that is killed while it is idle is replaced", async () => {
  const small = await plain(640, 480).png().toBuffer();
  await decode("image/png", small);
  const decoders = await findDecoders();
  assert.ok(decoders.length > 0);
  for (const id of decoders) process.kill(id, "SIGKILL");
  await eventually("they have ended", 30_000, async () => {
    const left = new Set(await findDecoders());
    return decoders.every((id) => !left.has(id));
  });
  assert.equal((await decode("image/png", small)).width, 640);
});

test("a picture that takes too much CPU time ends its decoder, and the next picture gets another one", async () => {
  const large = await plain(6_000, 6_000).png().toBuffer();
  const task = { bytes: large, mediaType: "image/png", kind: "screenshot" as const };
  await assert.rejects(decodeOutside({ ...task, maxCpuMs: 0 }), isUnusable(/takes too long, or too much memory/));
  assert.equal((await decodeOutside({ ...task, maxCpuMs })).width, 1_920);
});
