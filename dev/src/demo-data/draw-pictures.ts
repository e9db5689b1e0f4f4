import { mkdir, rm, writeFile } from "node:fs/promises";
import { decodePicture } from "@ehr-marketplace/marketplace/decode-picture";
import sharp from "sharp";
import { readArguments } from "../command-line.ts";
import { demoApps } from "./apps.ts";
import { drawIcon } from "./draw-icon.ts";
import { drawScreenshot } from "./draw-screenshot.ts";
import { type DemoPicture, pictureFolder, picturesOf } from "./pictures.ts";

const usage = `Usage: npm run draw:pictures

Draws the icons and screenshots of the demo apps again, into dev/src/demo-data/pictures. Commit the files: the stack and
the tests upload them as they are. Texts are drawn with the fonts of this machine.

  --help  print this text

Examples:
  npm run draw:pictures`;

readArguments(usage, { options: {} });

// The marketplace decodes no SVG of anybody. These are our own.
sharp.unblock({ operation: ["VipsForeignLoadSvg"] });

/** Renders a drawing, and encodes it as an upload of it would be. */
async function writePicture(svg: string, { kind, width, height, file }: DemoPicture): Promise<number> {
  const rendered = await sharp(Buffer.from(svg), { density: 384 }).resize(width, height).png().toBuffer();
  const { bytes } = await decodePicture(rendered, "image/png", kind);
  await writeFile(file, bytes);
  return bytes.length;
}

await rm(pictureFolder, { recursive: true, force: true });
await mkdir(pictureFolder);
let [files, totalBytes] = [0, 0];
for (const app of demoApps("")) {
  const { icon, screenshots } = picturesOf(app);
  const drawn = [
    writePicture(drawIcon(app), icon),
    ...screenshots.map((picture, index) =>
      writePicture(drawScreenshot(app, app.screenshotTitles[index] ?? "", index), picture),
    ),
  ];
  for (const bytes of await Promise.all(drawn)) {
    files += 1;
    totalBytes += bytes;
  }
}
console.log(`Drew ${files} pictures, ${Math.round(totalBytes / 1_024)} KiB in total.`);
