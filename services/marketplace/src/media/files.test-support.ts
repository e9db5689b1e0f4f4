import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";

export const plain = (width: number, height: number, background = "rgb(200, 30, 60)"): Sharp =>
  sharp({ create: { width, height, channels: 3, background } });

export const pdf = (text = "agreement"): Buffer => Buffer.from(`%PDF-1.7\n% ${text}\n1 0 obj\n<<>>\nendobj\n%%EOF\n`);

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** A PNG of one colour and bit per pixel, written by hand: hundreds of megapixels take a few kilobytes. */
export function pngBomb(width: number, height: number, rows = height): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows), { level: 9 });
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

const [beforeIend, beforeEoi] = [-12, -2];
const insertAt = (bytes: Buffer, at: number, inserted: Buffer[]): Buffer =>
  Buffer.concat([bytes.subarray(0, at), ...inserted, bytes.subarray(at)]);

const marker = (code: number): Buffer => Buffer.from([0xff, code]);
const [huffmanTable, startOfScan] = [marker(0xc4), marker(0xda)];

/** A progressive JPEG that repeats a scan of a few dozen bytes, which covers all pixels each time. */
export async function withScans(count: number): Promise<Buffer> {
  const jpeg = await plain(2_000, 2_000).jpeg({ progressive: true }).toBuffer();
  // The second scan is the first with other frequencies than 0. It is preceded by its table.
  const header = jpeg.indexOf(startOfScan, jpeg.indexOf(startOfScan) + 2);
  const scan = Buffer.from(jpeg.subarray(jpeg.lastIndexOf(huffmanTable, header), jpeg.indexOf(huffmanTable, header)));
  const begin = scan.indexOf(startOfScan);
  // Of all bits, which may come again after the last refinement.
  scan[begin + 1 + scan.readUInt16BE(begin + 2)] = 0;
  return insertAt(
    jpeg,
    beforeEoi,
    Array.from({ length: count }, () => scan),
  );
}

/** A PNG with texts of its own, compressed. */
export async function withTexts(count: number): Promise<Buffer> {
  const text = chunk("zTXt", Buffer.concat([Buffer.from("Comment\0\0"), deflateSync(Buffer.alloc(1_048_576))]));
  const png = await plain(640, 480).png().toBuffer();
  return insertAt(
    png,
    beforeIend,
    Array.from({ length: count }, () => text),
  );
}

/** A WebP with chunks that no reader knows. */
export async function withChunks(count: number): Promise<Buffer> {
  const unknown = Buffer.from("ABCD\x02\0\0\0ab", "latin1");
  const webp = Buffer.concat([
    await plain(640, 480).webp().toBuffer(),
    ...Array.from({ length: count }, () => unknown),
  ]);
  webp.writeUInt32LE(webp.length - 8, 4);
  return webp;
}

/** The header of an interlaced PNG with 16 bits per colour. */
export function interlaced16Bit(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([16, 2, 0, 0, 1], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header)]);
}

/** An archive without files: the record at its end. */
export const emptyZip = Buffer.concat([Buffer.from("PK\x05\x06", "latin1"), Buffer.alloc(18)]);

/** A WebP of two frames. */
export async function animation(): Promise<Buffer> {
  const frames = await Promise.all(["red", "blue"].map((background) => plain(64, 64, background).png().toBuffer()));
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [100, 100] })
    .toBuffer();
}
