import pixelmatch from "pixelmatch";
import { decodePicture, encodePicture, type Pixels } from "./pixels.ts";

export interface Comparison {
  /** What differs, in words; empty if the pictures are the same. */
  differences: string[];
  /** The reference in grey, with what differs in red. */
  picture: Buffer;
}

const tileSize = 8;
/** Pixels of a tile that may differ. */
const maxPixels = 6;
/** How much a blurred pixel may differ, by pixelmatch's measure: 4 levels of grey where nothing has more contrast than a faint line, else 26. */
const thresholds = { faint: 0.016, strong: 0.1 };
const maxFaintLevels = 48;
/** Around a tile, contrast counts too: an edge that is a pixel elsewhere is blurred into it. */
const margin = 2;
/** A colour counts if at least this share of the pixels has it. It is missing if the other picture has less than a tenth of them. */
const minShare = 0.0005;
const minRest = 0.1;
/** Decoders of pictures round differently, by this much of 255. */
const maxLevels = 2;

/**
 * Compares two pictures of a page. Glyphs have other edges in other versions of Chromium, and may be a fraction of a pixel elsewhere. So
 * shapes are compared in blurred copies, in tiles: a limit for the whole picture would either miss a letter or fail for edges. Blurred, a
 * text of another shade looks the same. So each frequent colour of the reference has to be in the other picture, too.
 */
export async function comparePictures(reference: Buffer, actual: Buffer): Promise<Comparison> {
  const [expected, given] = await Promise.all([decodePicture(reference), decodePicture(actual)]);
  const { width, height } = expected;
  if (given.width !== width || given.height !== height) {
    return { differences: [`${given.width} × ${given.height} pixels, not ${width} × ${height}`], picture: actual };
  }
  if (expected.data.equals(given.data)) return { differences: [], picture: actual };
  const [blurred, otherBlurred] = [blur(expected), blur(given)];
  const match = (threshold: number): Pixels => {
    const data = Buffer.alloc(width * height * 4);
    pixelmatch(blurred, otherBlurred, data, width, height, { threshold, includeAA: true });
    return { data, width, height };
  };
  const difference = match(thresholds.faint);
  const tiles = countDifferingTiles(expected, { faint: difference, strong: match(thresholds.strong) });
  const missing = findMissingColours(expected, given);
  return {
    differences: [
      ...(tiles > 0 ? [`${tiles} tiles of ${tileSize} × ${tileSize} pixels`] : []),
      ...missing.map((colour) => `pixels of the colour #${colour.toString(16).padStart(6, "0")} are missing`),
    ],
    picture: await encodePicture(difference),
  };
}

/** Each pixel becomes the mean of itself and its neighbours. */
function blur({ width, height, data }: Pixels): Uint8Array {
  const blurred = new Uint8Array(data.length).fill(255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (let channel = 0; channel < 3; channel += 1) {
        let sum = 0;
        for (const row of [Math.max(y - 1, 0), y, Math.min(y + 1, height - 1)]) {
          for (const column of [Math.max(x - 1, 0), x, Math.min(x + 1, width - 1)]) {
            sum += data[(row * width + column) * 4 + channel] ?? 0;
          }
        }
        blurred[(y * width + x) * 4 + channel] = sum / 9;
      }
    }
  }
  return blurred;
}

function countDifferingTiles(expected: Pixels, differences: Record<keyof typeof thresholds, Pixels>): number {
  const countChanged = ({ data }: Pixels, pixels: number[]): number =>
    // Pixelmatch marks different pixels in red, and draws all others in grey.
    pixels.filter((at) => data[at] === 255 && data[at + 1] === 0).length;
  let differing = 0;
  for (let y = 0; y < expected.height; y += tileSize) {
    for (let x = 0; x < expected.width; x += tileSize) {
      const tile = listPixels(expected, { x, y, size: tileSize });
      if (countChanged(differences.faint, tile) <= maxPixels) continue;
      const around = listPixels(expected, { x: x - margin, y: y - margin, size: tileSize + 2 * margin });
      const isFaint = measureContrast(expected, around) <= maxFaintLevels;
      if (isFaint || countChanged(differences.strong, tile) > maxPixels) differing += 1;
    }
  }
  return differing;
}

/** The offsets of the pixels of a square. */
function listPixels({ width, height }: Pixels, square: { x: number; y: number; size: number }): number[] {
  const pixels: number[] = [];
  for (let y = Math.max(square.y, 0); y < Math.min(square.y + square.size, height); y += 1) {
    for (let x = Math.max(square.x, 0); x < Math.min(square.x + square.size, width); x += 1) {
      pixels.push((y * width + x) * 4);
    }
  }
  return pixels;
}

/** The largest range of a colour channel. */
function measureContrast({ data }: Pixels, pixels: number[]): number {
  const ranges = [0, 1, 2].map((channel) => {
    const values = pixels.map((at) => data[at + channel] ?? 0);
    return Math.max(...values) - Math.min(...values);
  });
  return Math.max(...ranges);
}

/** The frequent colours of a picture that another one lacks. */
function findMissingColours(expected: Pixels, given: Pixels): number[] {
  const minPixels = expected.width * expected.height * minShare;
  const counts = countColours(given);
  const countSimilar = (colour: number): number =>
    [...counts].reduce((sum, [other, pixels]) => sum + (areSimilar(colour, other) ? pixels : 0), 0);
  return [...countColours(expected)]
    .filter(([colour, pixels]) => pixels >= minPixels && countSimilar(colour) < pixels * minRest)
    .map(([colour]) => colour);
}

function countColours({ data }: Pixels): Map<number, number> {
  const counts = new Map<number, number>();
  for (let offset = 0; offset < data.length; offset += 4) {
    const colour = data.readUIntBE(offset, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return counts;
}

function areSimilar(one: number, other: number): boolean {
  return [16, 8, 0].every((shift) => Math.abs(((one >> shift) & 255) - ((other >> shift) & 255)) <= maxLevels);
}
