/** Returns what makes a picture expensive to decode, as a sentence for its sender, or undefined. Reads its structure only. */
export function findExcess(bytes: Buffer, mediaType: string): string | undefined {
  return readers[mediaType]?.(bytes);
}

/** Each covers all pixels again, and may take a few bytes. Encoders write about ten. */
const maxScans = 64;
/** Besides the pixels: colours, texts and previews, some of them compressed. */
const maxOtherChunks = 64;
/** Of pixels. Small ones are cheap, and encoders write some of 8 KiB. */
const maxPixelChunks = 10_000;
/** libpng decodes these seven times as slowly as others. */
const maxInterlaced16BitPixels = 4_000_000;

const tooManyParts = (what: string, max: number): string =>
  `The picture has more than ${max} ${what}. Export it again, as a plain picture.`;

const readers: Record<string, (bytes: Buffer) => string | undefined> = {
  "image/png": inspectPng,
  "image/jpeg": inspectJpeg,
  "image/webp": inspectWebp,
};

function inspectPng(bytes: Buffer): string | undefined {
  let pixelChunks = 0;
  let otherChunks = 0;
  // A length, a type, the data, and a checksum.
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IHDR" && at + 21 <= bytes.length) {
      const pixels = bytes.readUInt32BE(at + 8) * bytes.readUInt32BE(at + 12);
      const [depth, interlace] = [bytes[at + 16], bytes[at + 20]];
      if (depth === 16 && interlace !== 0 && pixels > maxInterlaced16BitPixels) {
        return "The picture is interlaced, with 16 bits per colour. Export it with 8 bits, or without interlacing.";
      }
    }
    if (type === "IDAT") pixelChunks += 1;
    else otherChunks += 1;
    if (otherChunks > maxOtherChunks) return tooManyParts("chunks besides its pixels", maxOtherChunks);
    if (pixelChunks > maxPixelChunks) return tooManyParts("chunks of pixels", maxPixelChunks);
    if (type === "IEND") return undefined;
  }
  return undefined;
}

const startOfScan = Buffer.from([0xff, 0xda]);

/** Pixels never contain these bytes. Previews and colour profiles may, a few times, so this isn't exact. */
function inspectJpeg(bytes: Buffer): string | undefined {
  let scans = 0;
  for (let at = bytes.indexOf(startOfScan); at !== -1; at = bytes.indexOf(startOfScan, at + 2)) {
    scans += 1;
    if (scans > maxScans) return tooManyParts("scans", maxScans);
  }
  return undefined;
}

function inspectWebp(bytes: Buffer): string | undefined {
  let chunks = 0;
  // A type, a length, and the data, of an even length.
  for (let at = 12; at + 8 <= bytes.length; ) {
    chunks += 1;
    if (chunks > maxOtherChunks) return tooManyParts("chunks", maxOtherChunks);
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return undefined;
}
