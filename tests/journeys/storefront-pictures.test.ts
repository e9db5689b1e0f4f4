// Compares pages with the pictures in tests/journeys/pictures. After a change of the design, look at the new pictures and commit them:
//   UPDATE_PICTURES=true npm test -- tests/journeys/storefront-pictures.test.ts
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { openPage, type Storefront, startStorefront } from "@ehr-marketplace/tests/support/storefront";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { comparePictures } from "./compare-pictures.ts";
import { decodePicture, encodePicture } from "./pixels.ts";

const pictures = join(import.meta.dirname, "pictures");
const isUpdate = process.env["UPDATE_PICTURES"] === "true";
const updateCommand = "UPDATE_PICTURES=true npm test -- tests/journeys/storefront-pictures.test.ts";
/** The version that drew the pictures, for whoever looks for the reason of a difference. */
const versionFile = join(pictures, "chromium-version.txt");

const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const [home, results, app] = ["/", "/apps?category=DOCUMENTATION", "/apps/northwind-scribe"];

interface View {
  path: string;
  theme: "light" | "dark";
  size: { width: number; height: number };
  /** Change the page before its picture is taken. */
  style?: string;
  script?: string;
}

/** Every page in both themes and in both sizes, but not in each combination. */
const views: Record<string, View> = {
  "home-light-desktop.png": { path: home, theme: "light", size: desktop },
  "home-dark-phone.png": { path: home, theme: "dark", size: phone },
  "results-dark-desktop.png": { path: results, theme: "dark", size: desktop },
  "results-light-phone.png": { path: results, theme: "light", size: phone },
  "app-light-desktop.png": { path: app, theme: "light", size: desktop },
  "app-dark-phone.png": { path: app, theme: "dark", size: phone },
};

/** An estimate depends on the day of the month. Nothing else in view depends on the time. */
const fixedStyle = ".estimate { display: none !important; }";

const changedFile = "results-light-phone.png";
const changedView = views[changedFile] ?? assert.fail();
type Change = Pick<View, "style" | "script">;
/** Each of them has to be found: in the gate the smallest ones. */
const smallChanges: Record<string, Change> = {
  "the surface's colour, by 3 of 255": { style: ":root { --surface: #f8f9f9 !important; }" },
  "a space, by 1 pixel": { style: "h1 { padding-top: 1px !important; }" },
  "a letter": { script: 'document.querySelector(".card-summary").firstChild.data = "Ambient votes"' },
};
const otherChanges: Record<string, Change> = {
  "the accent colour, by 6 of 255": { style: ":root { --accent: #0a6a78 !important; }" },
  "the colour of lines": { style: ":root { --line: #b9cfd2 !important; }" },
  "the colour of text": { style: ":root { --text: #2a3d44 !important; }" },
  "the colour of secondary text": { style: ":root { --muted: #6b7f87 !important; }" },
  "a radius": { style: ":root { --radius-large: 8px !important; }" },
  "the size of text": { style: ":root { --font-small: 0.9rem !important; }" },
  "the font": { style: ":root { --font: sans-serif !important; }" },
  "a button's place, by 2 pixels": { style: ".filters .button { transform: translateX(2px) !important; }" },
  "a picture": { script: 'document.querySelector("main img").style.opacity = 0.5' },
};
const changes = { ...smallChanges, ...(isFullRun ? otherChanges : {}) };

describe("the storefront looks as in the pictures", () => {
  const cleanUp = cleanUpAfter();
  const taken = new Map<string, Buffer>();
  let version = "";
  before(async () => {
    // Hinting depends on the fonts' settings of the machine, and moves letters.
    const [storefront, browser] = await Promise.all([
      startStorefront(cleanUp),
      launchChromium(cleanUp, "--font-render-hinting=none"),
    ]);
    version = browser.version();
    // All of them first: a comparison blocks this process, which also serves the pages.
    for (const [file, view] of Object.entries(views)) taken.set(file, await takePicture(browser, storefront, view));
    for (const [name, change] of Object.entries(changes)) {
      taken.set(name, await takePicture(browser, storefront, { ...changedView, ...change }));
    }
    if (isUpdate) {
      await mkdir(pictures, { recursive: true });
      await writeFile(versionFile, `${version}\n`);
    }
  });

  for (const file of Object.keys(views)) {
    test(file, async () => {
      const actual = taken.get(file) ?? assert.fail();
      if (isUpdate) await writeFile(join(pictures, file), await encodePicture(await decodePicture(actual)));
      await assertSamePicture(file, actual, version);
    });
  }

  const reference = (): Promise<Buffer> => readFile(join(pictures, changedFile));

  for (const change of Object.keys(changes)) {
    test(`a change of ${change} is found`, async () => {
      const { differences } = await comparePictures(await reference(), taken.get(change) ?? assert.fail());
      assert.notDeepEqual(differences, []);
    });
  }

  test("glyphs with other edges, or a quarter of a pixel elsewhere, are tolerated", async () => {
    const expected = await reference();
    for (const share of [-0.25, 0.25]) {
      const { differences } = await comparePictures(expected, await blendEdges(expected, share));
      assert.deepEqual(differences, []);
    }
  });
});

async function takePicture(browser: Browser, storefront: Storefront, view: View): Promise<Buffer> {
  const { path, theme, size, style = "", script = "" } = view;
  const options = { colorScheme: theme, viewport: size, deviceScaleFactor: 1, locale: "en-US", bypassCSP: true };
  const { page, context } = await openPage(browser, storefront, options);
  // The apps' own pictures aren't part of the design, and versions of Chromium scale them differently.
  await context.route("**/media/**", async (route) => route.fulfill({ contentType: "image/png", body: await plain }));
  await page.goto(path);
  await page.evaluate(script);
  await page.evaluate(waitUntilDrawn);
  const picture = await page.screenshot({ animations: "disabled", caret: "hide", style: `${fixedStyle} ${style}` });
  await context.close();
  return picture;
}

const plain = sharp({ create: { width: 64, height: 40, channels: 3, background: "#7a9cc6" } })
  .png()
  .toBuffer();

async function assertSamePicture(file: string, actual: Buffer, version: string): Promise<void> {
  const expected = await readFile(join(pictures, file)).catch(() => undefined);
  const compared = expected && (await comparePictures(expected, actual));
  if (compared?.differences.length === 0) return;
  const folder = await mkdtemp(join(tmpdir(), "ehr-marketplace-pictures-"));
  await writeFile(join(folder, `actual-${file}`), actual);
  if (compared !== undefined) await writeFile(join(folder, `difference-${file}`), compared.picture);
  const reason = compared === undefined ? "there is no such picture" : `it differs: ${compared.differences.join(", ")}`;
  const drawnBy = (await readFile(versionFile, "utf8").catch(() => "unknown")).trim();
  assert.fail(
    `${file}: ${reason}. The page as it is and the difference are in ${folder}. ` +
      `The picture was drawn by Chromium ${drawnBy}, the page by ${version}. If the page is as it should be: ${updateCommand}`,
  );
}

/** Runs in the page: fonts are loaded, and pictures in view are decoded. */
const waitUntilDrawn = `(async () => {
  await document.fonts.ready;
  const isInView = (image) => image.checkVisibility() && image.getBoundingClientRect().top < innerHeight;
  const shown = [...document.images].filter(isInView);
  await Promise.all(shown.map((image) => image.decode().catch(() => Promise.reject(new Error(image.src)))));
})()`;

/** Blends each pixel with the one beside it, as if glyphs were a fraction of a pixel elsewhere. */
async function blendEdges(picture: Buffer, share: number): Promise<Buffer> {
  const { data, width, height } = await decodePicture(picture);
  const blended = Buffer.from(data);
  const step = share < 0 ? -4 : 4;
  for (let offset = 4; offset < data.length - 4; offset += 1) {
    const [own = 0, beside = 0] = [data[offset], data[offset + step]];
    blended[offset] = Math.round(own + (beside - own) * Math.abs(share));
  }
  return encodePicture({ data: blended, width, height });
}
