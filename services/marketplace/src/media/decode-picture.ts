import sharp, { type OutputInfo } from "sharp";
import { findExcess } from "./inspect-picture.ts";
import { type Picture, type PictureKind, UnusablePictureError } from "./picture.ts";

const maxPixels = 40_000_000;
const iconSize = 512;
const maxScreenshot = { width: 1_920, height: 4_096 };

// A picture is decoded once, so a cache would only keep the memory. One thread for each: requests need the cores too.
sharp.cache(false);
sharp.concurrency(1);
// Only the decoders of these formats may ever run, whatever a file claims to be.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadPng", "VipsForeignLoadJpeg", "VipsForeignLoadWebp"] });

/**
 * Decodes a picture of a vendor and encodes it again, so that nothing of the file is left but what one sees: no EXIF with the place
 * where it was taken, and nothing that was appended to it.
 */
export async function decodePicture(bytes: Buffer, mediaType: string, kind: PictureKind | undefined): Promise<Picture> {
  const excess = findExcess(bytes, mediaType);
  if (excess !== undefined) throw new UnusablePictureError(excess);
  const input = sharp(bytes, { limitInputPixels: maxPixels, failOn: "error", pages: 1, sequentialRead: true });
  try {
    const { pages = 1, autoOrient } = await input.metadata();
    const { width, height } = autoOrient;
    const size = `The picture has ${width} × ${height} pixels.`;
    if (width * height > maxPixels) throw new UnusablePictureError(`${size} Reduce it to at most 40 million in total.`);
    if (pages > 1) throw new UnusablePictureError("The picture is animated. Export a single frame of it.");
    const upright = input.autoOrient().toColourspace("srgb");
    const canBeIcon = width === height && width >= iconSize;
    if (kind === "icon" || (kind === undefined && canBeIcon)) {
      if (!canBeIcon) {
        throw new UnusablePictureError(`${size} An icon is square, with at least ${iconSize} × ${iconSize}.`);
      }
      const encoded = upright.resize(iconSize, iconSize).png({ compressionLevel: 9 });
      return toPicture("image/png", await encoded.toBuffer({ resolveWithObject: true }));
    }
    const resized = upright.resize({ ...maxScreenshot, fit: "inside", withoutEnlargement: true });
    // Half the time of the default effort, for about 6 % more bytes.
    const encoded = resized.webp({ quality: 85, effort: 2 });
    return toPicture("image/webp", await encoded.toBuffer({ resolveWithObject: true }));
  } catch (error) {
    if (error instanceof UnusablePictureError) throw error;
    // The messages of the decoders are for programmers, so they aren't passed on.
    const isTooLarge = /pixel limit/i.test((error as Error).message);
    throw new UnusablePictureError(
      isTooLarge
        ? "The picture has more than 40 million pixels. Reduce its size."
        : "The picture can't be decoded: it is damaged or incomplete. Export it again.",
    );
  }
}

function toPicture(contentType: Picture["contentType"], { data, info }: { data: Buffer; info: OutputInfo }): Picture {
  return { bytes: data, contentType, width: info.width, height: info.height };
}
