import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { build, type InlineConfig, type Plugin } from "vite";
import { tokensCss } from "../src/design/tokens-css.ts";
import { hashInputs } from "./hash-inputs.ts";

const service = join(import.meta.dirname, "..");
const dist = join(service, "dist");
const inputsFile = "inputs.txt";
const source = (path: string): string => join(service, "src", path);

/** Replaces the content of `tokens.css` by the CSS of the design tokens. */
const tokensPlugin: Plugin = {
  name: "design-tokens",
  load: (id) => (id === source("storefront/styles/tokens.css") ? tokensCss() : undefined),
};

const common: InlineConfig = {
  root: service,
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: "warn",
  mode: "production",
  plugins: [tokensPlugin],
};

/** The pages as one module with everything that it imports, so that production needs neither React nor Vite. */
const serverBuild = (outDir: string): InlineConfig => ({
  ...common,
  define: { "process.env.NODE_ENV": '"production"' },
  ssr: { noExternal: true },
  build: {
    outDir,
    ssr: source("storefront/views/render.tsx"),
    target: "node24",
    minify: false,
    rolldownOptions: { output: { entryFileNames: "render.js" } },
  },
});

/** What browsers load: styles, fonts and islands, with a hash of the content in each name. */
const clientBuild = (outDir: string): InlineConfig => ({
  ...common,
  build: {
    outDir,
    manifest: "manifest.json",
    // As data URLs, fonts would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "baseline-widely-available",
    rolldownOptions: {
      input: [source("islands/theme.ts"), source("islands/islands.ts"), source("storefront/styles/storefront.ts")],
    },
  },
});

/** The console, in parts that are loaded when a screen needs them. */
const consoleBuild = (outDir: string): InlineConfig => ({
  ...common,
  build: {
    outDir,
    manifest: "manifest.json",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A test limits what the first load has.
    chunkSizeWarningLimit: 1_000,
    target: "baseline-widely-available",
    rolldownOptions: {
      input: [source("console/main.tsx"), source("console/styles/styles.ts")],
      // Libraries mark modules for servers that render React, which this build isn't for.
      onLog: (level, log, handle) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
});

/** Compresses once, as well as possible, what is served many times. Fonts are compressed already. */
async function compressAssets(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /\.(js|css|svg)$/.test(name));
  for (const name of names) {
    const path = join(folder, name);
    const bytes = await readFile(path);
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes));
    await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  }
}

/** The build is the same in every environment: with another NODE_ENV, Vite would call React's development runtime, which it lacks. */
async function inProduction(work: () => Promise<void>): Promise<void> {
  const { NODE_ENV: given } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    await work();
  } finally {
    if (given === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = given;
  }
}

/**
 * Builds the pages into `dist`, unless they are up to date. The new build replaces the old one at once, so that a process that starts
 * meanwhile finds one of them.
 */
export async function buildPages(): Promise<boolean> {
  const inputs = await hashInputs(service);
  const built = await readFile(join(dist, inputsFile), "utf8").catch(() => undefined);
  if (built === inputs) return false;
  const target = await mkdtemp(`${dist}-`);
  // The process may run as another user than the build.
  await chmod(target, 0o755);
  try {
    await inProduction(async () => {
      await build(serverBuild(join(target, "server")));
      await build(clientBuild(join(target, "client")));
      await build(consoleBuild(join(target, "console")));
    });
    await compressAssets(join(target, "client/assets"));
    await compressAssets(join(target, "console/assets"));
    await writeFile(join(target, inputsFile), inputs);
    await rm(dist, { recursive: true, force: true });
    await rename(target, dist);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
  return true;
}
