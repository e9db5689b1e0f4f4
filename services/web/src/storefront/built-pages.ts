import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";
import type { AssetUrls } from "./page-data.ts";
import type { pages } from "./views/render.tsx";

/** What `npm run build` makes of the pages. */
export interface BuiltPages {
  pages: typeof pages;
  urls: AssetUrls;
  /** By the path of the URL. */
  assets: Map<string, Representation>;
}

interface ManifestEntry {
  file: string;
  css?: string[];
}

const dist = join(import.meta.dirname, "../../dist");

const contentTypes: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  woff2: "font/woff2",
};

/** Loads the build into memory: it is small, and the same for the life of the process. */
export async function loadBuiltPages(): Promise<BuiltPages> {
  const manifest = await readManifest();
  const find = (ending: string): ManifestEntry => {
    const entry = Object.entries(manifest).find(([name]) => name.endsWith(ending))?.[1];
    if (entry === undefined) throw new ConfigurationError(`The build of the pages has no ${ending}. ${advice}`);
    return entry;
  };
  const built = (await import(pathToFileURL(join(dist, "server/render.js")).href)) as { pages: typeof pages };
  return {
    pages: built.pages,
    urls: {
      styles: `/${find("styles/storefront.ts").css?.[0]}`,
      theme: `/${find("islands/theme.ts").file}`,
      islands: `/${find("islands/islands.ts").file}`,
      font: `/${find("inter-latin-wght-normal.woff2").file}`,
    },
    assets: await readAssets(),
  };
}

const advice = "Run `npm run build --workspace services/web`, and start again.";

async function readManifest(): Promise<Record<string, ManifestEntry>> {
  try {
    return JSON.parse(await readFile(join(dist, "client/manifest.json"), "utf8")) as Record<string, ManifestEntry>;
  } catch (error) {
    throw new ConfigurationError(`The pages aren't built: services/web/dist can't be read. ${advice}`, {
      cause: error,
    });
  }
}

async function readAssets(): Promise<Map<string, Representation>> {
  const folder = join(dist, "client/assets");
  const names = await readdir(folder);
  const assets = names.filter((name) => !/\.(br|gz)$/.test(name));
  return new Map(
    await Promise.all(assets.map(async (name) => [`/assets/${name}`, await readAsset(folder, name)] as const)),
  );
}

const codings = [
  ["br", "br"],
  ["gzip", "gz"],
] as const;

/** An asset with its compressed forms, which the build has made. */
async function readAsset(folder: string, name: string): Promise<Representation> {
  const representation = createRepresentation(await readFile(join(folder, name)), {
    contentType: contentTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    // The name has a hash of the content.
    cacheControl: "public, max-age=31536000, immutable",
  });
  const { plain, compressed } = representation;
  for (const [coding, ending] of codings) {
    const body = await readFile(join(folder, `${name}.${ending}`)).catch(() => undefined);
    // What the build hasn't compressed, such as a font, is sent as it is.
    const encoded = body === undefined ? plain : { body, etag: `${plain.etag.slice(0, -1)}-${coding}"`, coding };
    compressed.set(coding, Promise.resolve(encoded));
  }
  return representation;
}
