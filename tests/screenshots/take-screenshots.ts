import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exitWithUsage, readArguments } from "@ehr-marketplace/dev/command-line";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { choosePersona, openConsole } from "@ehr-marketplace/tests/support/console";
import { type DevStack, startDevStack } from "@ehr-marketplace/tests/support/dev-stack";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { type Screen, screens, sizes } from "./screens.ts";
import { subscribePractice } from "./subscribe-practice.ts";

const usage = `Usage: npm run screenshots -- [options] [NAME …]

Starts the local stack with some subscriptions, and takes the pictures of the README into docs/images. Look at them, and
commit those that should change. Names select some of them: ${Object.keys(screens).join(", ")}.
Needs Chromium.

  --every             each of them in both themes, for a desktop and for a phone
  --folder DIRECTORY  where to write them (docs/images)
  --help              print this text

Examples:
  npm run screenshots -- storefront-home console-overview
  npm run screenshots -- --every --folder /tmp/screenshots`;

const { values, positionals } = readArguments(usage, {
  allowPositionals: true,
  options: { every: { type: "boolean", default: false }, folder: { type: "string", default: "docs/images" } },
});
const unknown = positionals.find((name) => !(name in screens));
if (unknown !== undefined) exitWithUsage(`There is no picture "${unknown}".`, usage);

/** It may have to build the pages first. */
const patienceMs = 600_000;

type Taken = Pick<Screen, "theme" | "size">;

const combinations: Taken[] = (["light", "dark"] as const).flatMap((theme) =>
  (["desktop", "phone"] as const).map((size) => ({ theme, size })),
);

async function takePicture(browser: Browser, stack: DevStack, screen: Screen): Promise<Buffer> {
  const { path, theme, size, isPrivate = false, prepare } = screen;
  const options = { colorScheme: theme, viewport: sizes[size], deviceScaleFactor: 1, locale: "en-US" } as const;
  const { page, context, mistakes } = await openConsole(browser, stack, { ...options, timezoneId: "America/New_York" });
  await page.goto(path);
  if (isPrivate) {
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");
    await page.waitForURL((url) => path.startsWith(url.pathname));
  }
  await prepare(page);
  await page.waitForLoadState("networkidle");
  await page.evaluate("document.fonts.ready");
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await context.close();
  // Such as a style that could not be loaded.
  if (mistakes.length > 0) throw new Error(`${path}: ${mistakes.join("; ")}`);
  return shrink(picture);
}

/** With a palette a picture has a third of the bytes, and looks the same. */
const shrink = (picture: Buffer): Promise<Buffer> =>
  sharp(picture).png({ palette: true, quality: 95, effort: 10, compressionLevel: 9, dither: 0.5 }).toBuffer();

const undos: (() => Promise<unknown>)[] = [];
try {
  const cleanUp = (undo: () => Promise<unknown>): void => void undos.unshift(undo);
  console.log("Starting the local stack …");
  const stack = await startDevStack(cleanUp, { patienceMs });
  await subscribePractice(stack);
  const browser = await launchChromium(cleanUp);
  await mkdir(values.folder, { recursive: true });
  for (const [name, screen] of Object.entries(screens)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (const taken of values.every ? combinations : [screen]) {
      const { theme, size } = taken;
      const picture = await takePicture(browser, stack, { ...screen, theme, size });
      const file = join(values.folder, values.every ? `${name}-${theme}-${size}.png` : `${name}.png`);
      await writeFile(file, picture);
      console.log(`${file}: ${Math.ceil(picture.length / 1_000)} kB`);
    }
  }
} finally {
  for (const undo of undos) await undo();
}
