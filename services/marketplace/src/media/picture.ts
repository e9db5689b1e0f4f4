export type PictureKind = "icon" | "screenshot";

export interface Picture {
  bytes: Buffer;
  contentType: "image/png" | "image/webp";
  width: number;
  height: number;
}

/** Why a picture is refused, as a sentence for its sender. */
export class UnusablePictureError extends Error {}
