import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";
import { pagesFolder } from "../pages-folder.ts";
import type { AssetUrls } from "./page-data.ts";
import type { pages, prepareMarkdown } from "./views/render.tsx";

/** What `npm run build` makes of the pages. */
export interface BuiltPages {
  pages: typeof pages;
  prepareMarkdown: typeof prepareMarkdown;
  urls: AssetUrls;
  console: ConsoleUrls;
  /** By the path of the URL. */
  assets: Map<string, Representation>;
}

/** What the console's page loads at once. The rest is loaded by the console. */
export interface ConsoleUrls {
  script: string;
  preloads: string[];
  styles: string[];
  font: string;
  theme: string;
}

interface ManifestEntry {
  file: string;
  css?: string[];
  imports?: string[];
}

type Manifest = Record<string, ManifestEntry>;

const contentTypes: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  woff2: "font/woff2",
};

/** Loads the build into memory: it is small, and the same for the life of the process. */
export async function loadBuiltPages(): Promise<BuiltPages> {
  const manifest = await readManifest("client");
  const find = (ending: string): ManifestEntry => findEntry(manifest, ending);
  const built = (await import(pathToFileURL(join(pagesFolder, "server/render.js")).href)) as Pick<
    BuiltPages,
    "pages" | "prepareMarkdown"
  >;
  const urls = {
    styles: `/${find("styles/storefront.ts").css?.[0]}`,
    theme: `/${find("islands/theme.ts").file}`,
    islands: `/${find("islands/islands.ts").file}`,
    font: `/${find("inter-latin-wght-normal.woff2").file}`,
  };
  return {
    pages: built.pages,
    prepareMarkdown: built.prepareMarkdown,
    urls,
    console: { ...findConsole(await readManifest("console")), font: urls.font, theme: urls.theme },
    assets: new Map([...(await readAssets("client")), ...(await readAssets("console"))]),
  };
}

function findEntry(manifest: Manifest, ending: string): ManifestEntry {
  const entry = Object.entries(manifest).find(([name]) => name.endsWith(ending))?.[1];
  if (entry === undefined) throw new ConfigurationError(`The build of the pages has no ${ending}. ${advice}`);
  return entry;
}

/** The console's first script, with all that it imports statically. */
function findConsole(manifest: Manifest): Pick<ConsoleUrls, "script" | "preloads" | "styles"> {
  const entry = findEntry(manifest, "console/main.tsx");
  const imported = new Set<ManifestEntry>();
  const visit = ({ imports = [] }: ManifestEntry): void => {
    for (const name of imports) {
      const next = manifest[name];
      if (next === undefined || imported.has(next)) continue;
      imported.add(next);
      visit(next);
    }
  };
  visit(entry);
  return {
    script: `/${entry.file}`,
    preloads: [...imported].map(({ file }) => `/${file}`),
    styles: findEntry(manifest, "console/styles/styles.ts").css?.map((file) => `/${file}`) ?? [],
  };
}

const advice = "Run `npm run build --workspace services/web`, and start again.";

type Build = "client" | "console";

async function readManifest(build: Build): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(join(pagesFolder, build, "manifest.json"), "utf8")) as Manifest;
  } catch (error) {
    throw new ConfigurationError(`The pages aren't built: services/web/dist can't be read. ${advice}`, {
      cause: error,
    });
  }
}

async function readAssets(build: Build): Promise<Map<string, Representation>> {
  const folder = join(pagesFolder, build, "assets");
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
