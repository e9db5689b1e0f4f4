import {
  createKeyedTaskLimiter,
  createTaskLimiter,
  Problem,
  standardProblems,
} from "@ehr-marketplace/service-kit/http";
import { mediaProblems } from "./media-errors.ts";
import { type Picture, type PictureKind, UnusablePictureError } from "./picture.ts";
import { decodeOutside } from "./picture-decoder.ts";

const signatures: [mediaType: string, matches: (bytes: Buffer) => boolean][] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["image/webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
];
export const pictureTypes: readonly string[] = signatures.map(([mediaType]) => mediaType);

/** 40 million pixels take two seconds. */
const maxCpuMs = 5_000;

/** Two processes decode, and one for a vendor: a vendor whose pictures take long leaves the other to everybody else. */
const decoding = createTaskLimiter(2, 100);
const decodingOfVendor = createKeyedTaskLimiter({
  maxRunning: 1,
  maxWaiting: 100,
  createProblem: () => new Problem(standardProblems.overloaded, "Too many pictures of the vendor wait to be decoded."),
});

const unusable = (detail: string): Problem => new Problem(mediaProblems.unusableFile, detail);

/** Decodes a picture and encodes it again: see `decodePicture`. */
export async function readPicture(
  bytes: Buffer,
  { declaredType, kind, vendor }: { declaredType: string; kind: PictureKind | undefined; vendor: string },
): Promise<Picture> {
  const [mediaType] = signatures.find(([, matches]) => matches(bytes)) ?? [];
  if (mediaType === undefined)
    throw unusable("The file isn't a PNG, JPEG or WebP. Export the picture as one of these.");
  if (mediaType !== declaredType) {
    throw unusable(`The file is ${mediaType}, but its Content-Type says ${declaredType}. Send the right one.`);
  }
  try {
    return await decodingOfVendor.run(vendor, () =>
      decoding.run(() => decodeOutside({ bytes, mediaType, kind, maxCpuMs })),
    );
  } catch (error) {
    if (error instanceof UnusablePictureError) throw unusable(error.message);
    if (error instanceof Problem) throw error;
    const detail = "The picture couldn't be decoded now, for a reason of ours. Send it again.";
    throw new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "5" }, cause: error });
  }
}
