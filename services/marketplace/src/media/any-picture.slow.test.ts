import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import fc from "fast-check";
import sharp from "sharp";
import { mediaProblems } from "./media-errors.ts";
import { pictureTypes, readPicture } from "./read-picture.ts";

const cases = 10_000;
/** Two pictures are decoded at a time, one for each vendor. */
const vendors = ["northwind-health", "lumen-medical"];

async function makeSeeds(): Promise<Buffer[]> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const draw = () => sharp({ create: { width: 48, height: 32, channels: 3, background: "red", noise } });
  const exif = { IFD0: { Artist: "Tess Tester" } };
  return Promise.all([
    draw().png({ progressive: true }).withExif(exif).toBuffer(),
    draw().png({ palette: true, colours: 8 }).toBuffer(),
    draw().toColourspace("rgb16").png().toBuffer(),
    draw().jpeg().withExif(exif).toBuffer(),
    draw().jpeg({ progressive: true }).toBuffer(),
    draw().greyscale().jpeg({ quality: 20 }).toBuffer(),
    draw().webp().withExif(exif).toBuffer(),
    draw().webp({ lossless: true }).toBuffer(),
  ]);
}

interface Change {
  kind: "set" | "flip" | "cut" | "insert" | "repeat" | "swap" | "length";
  at: number;
  size: number;
  bytes: Uint8Array;
}
const changes = fc.array(
  fc.record<Change>({
    kind: fc.constantFrom("set", "flip", "cut", "insert", "repeat", "swap", "length"),
    // Headers are at the beginning, where a change matters most.
    at: fc.oneof(fc.nat(80), fc.nat(6_000)),
    size: fc.oneof(fc.nat(8), fc.nat(2_000)),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 12 }),
      fc.constantFrom(
        Uint8Array.of(0xff, 0xff, 0xff, 0xff),
        Uint8Array.of(0, 0, 0, 0),
        Uint8Array.of(0x7f, 0xff, 0xff, 0xff),
      ),
    ),
  }),
  { maxLength: 6 },
);

function change(picture: Buffer, other: Buffer, { kind, at, size, bytes }: Change): Buffer {
  const offset = picture.length === 0 ? 0 : at % picture.length;
  const [before, rest] = [picture.subarray(0, offset), picture.subarray(offset)];
  switch (kind) {
    case "set":
      return Buffer.concat([before, bytes.subarray(0, rest.length), rest.subarray(bytes.length)]);
    case "flip":
      return Buffer.concat([before, Buffer.from([(rest[0] ?? 0) ^ (1 << (size % 8))]), rest.subarray(1)]);
    case "cut":
      return Buffer.concat([before, rest.subarray(size)]);
    case "insert":
      return Buffer.concat([before, bytes, rest]);
    case "repeat":
      return Buffer.concat([before, rest.subarray(0, size), rest.subarray(0, size), rest]);
    case "swap":
      return Buffer.concat([before, other.subarray(offset, offset + size), rest.subarray(size)]);
    case "length":
      return picture.subarray(0, offset);
  }
}

test("any file is refused, or becomes a picture of ours with pixels only; no decoder crashes or hangs", async () => {
  const seeds = await makeSeeds();
  const seed = fc.constantFrom(...seeds);
  const files = fc
    .tuple(seed, seed, changes)
    .map(([picture, other, all]) => all.reduce((changed, each) => change(changed, other, each), picture));
  const kinds = fc.constantFrom("screenshot" as const, "icon" as const);
  let decoded = 0;
  const read = async (vendor: string, [bytes, declaredType, kind]: [Buffer, string, "screenshot" | "icon"]) => {
    const picture = await readPicture(bytes, { declaredType, kind, vendor }).catch((error: unknown) => {
      // Not a 503: that is what a crash or an exceeded limit of time becomes.
      assert.ok(error instanceof Problem && error.kind.code === mediaProblems.unusableFile.code, String(error));
    });
    if (picture === undefined) return;
    decoded += 1;
    const { format, width, height, exif, xmp, icc } = await sharp(picture.bytes).metadata();
    assert.equal(`image/${format}`, picture.contentType);
    assert.deepEqual([width, height, exif, xmp, icc], [picture.width, picture.height, undefined, undefined, undefined]);
    assert.ok(picture.width <= 1_920 && !picture.bytes.includes("Tess Tester"));
  };
  const types = fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...pictureTypes) },
    { weight: 9, arbitrary: fc.constant("") },
  );
  const sent = fc
    .tuple(files, types, kinds)
    .map(([bytes, type, kind]): [Buffer, string, "screenshot" | "icon"] => [
      bytes,
      type === "" ? typeOf(bytes) : type,
      kind,
    ]);
  await fc.assert(
    fc.asyncProperty(sent, sent, async (...both) => {
      await Promise.all(both.map((each, index) => read(vendors[index] ?? "", each)));
    }),
    { numRuns: cases / vendors.length },
  );
  assert.ok(decoded > cases / 100, `only ${decoded} could be decoded: the changes are too coarse`);
});

/** The type that a client would declare. */
const typeOf = (bytes: Buffer): string =>
  bytes[0] === 0x89 ? "image/png" : bytes[0] === 0xff ? "image/jpeg" : "image/webp";
