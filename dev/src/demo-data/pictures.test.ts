import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { demoApps } from "./apps.ts";
import { pictureFolder, picturesOf } from "./pictures.ts";

const pictures = demoApps("http://127.0.0.1:1").flatMap((app) => {
  const { icon, screenshots } = picturesOf(app);
  return [icon, ...screenshots];
});

test("every demo app has an icon and a screenshot, committed in the format and size that draw:pictures draws", async () => {
  for (const { contentType, width, height, file } of pictures) {
    const metadata = await sharp(fileURLToPath(file)).metadata();
    assert.deepEqual(
      [`image/${metadata.format}`, metadata.width, metadata.height],
      [contentType, width, height],
      `${file.pathname}: run npm run draw:pictures, and commit the files`,
    );
  }
});

test("no picture is committed that no demo app has, and all together have less than 4 MB", async () => {
  const committed = await readdir(pictureFolder);
  const used = pictures.map(({ file }) => decodeURIComponent(file.pathname.split("/").at(-1) ?? ""));
  assert.deepEqual(committed.toSorted(), used.toSorted());
  const sizes = await Promise.all(pictures.map(async ({ file }) => (await stat(file)).size));
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 4_000_000);
});
