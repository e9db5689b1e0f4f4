import sharp from "sharp";

/** A decoded picture, with four bytes for each pixel: red, green, blue and opacity. */
export interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

export async function decodePicture(picture: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(picture).toColourspace("srgb").ensureAlpha().raw().toBuffer({
    resolveWithObject: true,
  });
  return { data, width: info.width, height: info.height };
}

/** Writes the same pixels in fewer bytes than browsers do. */
export async function encodePicture({ data, width, height }: Pixels): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 9, effort: 10, adaptiveFiltering: false })
    .toBuffer();
}
