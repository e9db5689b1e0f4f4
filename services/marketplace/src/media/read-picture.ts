import { createTaskLimiter, Problem } from "@ehr-marketplace/service-kit/http";
import sharp, { type OutputInfo } from "sharp";
import { mediaProblems } from "./media-errors.ts";

export interface Picture {
  bytes: Buffer;
  contentType: "image/png" | "image/webp";
  width: number;
  height: number;
}

const maxPixels = 40_000_000;
const iconSize = 512;
const maxScreenshot = { width: 1_920, height: 4_096 };
const timeoutSeconds = 5;
const signatures: [mediaType: string, matches: (bytes: Buffer) => boolean][] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["image/webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
];
export const pictureTypes: readonly string[] = signatures.map(([mediaType]) => mediaType);

// A picture is decoded once, so a cache would only keep the memory. One thread for each: other requests need the cores too.
sharp.cache(false);
sharp.concurrency(1);
// Only the decoders of these formats may ever run, whatever a file claims to be.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadPng", "VipsForeignLoadJpeg", "VipsForeignLoadWebp"] });

/** Decoding takes up to 320 MB for each, and a thread of the four that verify signatures and read files too. */
const decoding = createTaskLimiter(2, 100);

const unusable = (detail: string): Problem => new Problem(mediaProblems.unusableFile, detail);

/**
 * Decodes a picture of a vendor and encodes it again, so that nothing of the file is left but what one sees: no EXIF with the place
 * where it was taken, and nothing that was appended to it.
 */
export function readPicture(bytes: Buffer, declaredType: string, kind: "icon" | "screenshot"): Promise<Picture> {
  const [actualType] = signatures.find(([, matches]) => matches(bytes)) ?? [];
  if (actualType === undefined)
    throw unusable("The file isn't a PNG, JPEG or WebP. Export the picture as one of these.");
  if (actualType !== declaredType) {
    throw unusable(`The file is ${actualType}, but its Content-Type says ${declaredType}. Send the right one.`);
  }
  return decoding.run(() => decode(bytes, kind));
}

async function decode(bytes: Buffer, kind: "icon" | "screenshot"): Promise<Picture> {
  const input = sharp(bytes, { limitInputPixels: maxPixels, failOn: "error", pages: 1, sequentialRead: true });
  try {
    const { pages = 1, autoOrient } = await input.metadata();
    const { width, height } = autoOrient;
    if (width * height > maxPixels) {
      throw unusable(`The picture has ${width} × ${height} pixels. Reduce it to at most 40 million in total.`);
    }
    if (pages > 1) throw unusable("The picture is animated. Export a single frame of it.");
    const upright = input.autoOrient().toColourspace("srgb").timeout({ seconds: timeoutSeconds });
    if (kind === "icon") {
      if (width !== height || width < iconSize) {
        const detail = `The picture has ${width} × ${height} pixels. An icon is square, with at least ${iconSize} × ${iconSize}.`;
        throw unusable(detail);
      }
      const encoded = upright.resize(iconSize, iconSize).png({ compressionLevel: 9 });
      return toPicture("image/png", await encoded.toBuffer({ resolveWithObject: true }));
    }
    const resized = upright.resize({ ...maxScreenshot, fit: "inside", withoutEnlargement: true });
    // Half the time of the default effort, for about 6 % more bytes.
    const encoded = resized.webp({ quality: 85, effort: 2 });
    return toPicture("image/webp", await encoded.toBuffer({ resolveWithObject: true }));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw describeFailure(error);
  }
}

function toPicture(contentType: Picture["contentType"], { data, info }: { data: Buffer; info: OutputInfo }): Picture {
  return { bytes: data, contentType, width: info.width, height: info.height };
}

/** The messages of the decoders are for programmers, so they aren't passed on. */
function describeFailure(error: unknown): Problem {
  const { message } = error as Error;
  if (/pixel limit/i.test(message)) return unusable("The picture has more than 40 million pixels. Reduce its size.");
  if (/timeout/i.test(message))
    return unusable("The picture takes too long to decode. Reduce its size, and export it again.");
  return unusable("The picture can't be decoded: it is damaged or incomplete. Export it again.");
}
