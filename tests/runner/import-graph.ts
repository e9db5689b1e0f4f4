import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

/** What a module names: imports, exports from other modules, dynamic imports, and files beside it. */
const references = /(\bfrom|\bimport|\bimport\(|\bnew URL\()\s*"([^"\n]+)"/g;
const root = join(import.meta.dirname, "../..");

const entries = "services/*/src/{api,worker,web,migrate,reencrypt}.ts";
const pages = "services/web/src/{console,islands,storefront}/**/*.{ts,tsx,css,svg}";
const demoAppSite = "dev/src/demo-app/site/*";

/** What a module uses without importing it, by what it has in its text. */
const startedBy: Record<string, string[]> = {
  'getSharedPart("pages")': ["services/web/scripts/build-pages.ts", pages],
  'getSharedPart("bundles")': ["dev/src/bundle/bundle-services.ts", entries],
  'getSharedPart("identity-provider")': ["dev/src/identity-provider/index.ts"],
  '"run", "dev"': ["dev/src/dev.ts", entries, pages, demoAppSite],
  startDemoApp: [demoAppSite],
};

const isFile = (path: string): boolean => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;

function resolveReference(file: string, keyword: string, reference: string): string | undefined {
  if (reference.startsWith(".") || keyword === "new URL(") {
    const path = relative(root, join(root, dirname(file), reference));
    return isFile(path) ? path : undefined;
  }
  if (!reference.startsWith("@ehr-marketplace/")) return undefined;
  // npm links the packages of the workspace, so this is a path in it.
  return relative(root, createRequire(join(root, file)).resolve(reference));
}

export interface ImportGraph {
  /** The file itself and everything that it imports or starts, directly or through others. Libraries aren't part of it. */
  filesOf(file: string): ReadonlySet<string>;
}

/** Reads the imports of modules when they are first needed. Paths are relative to the repository. */
export function createImportGraph(): ImportGraph {
  const direct = new Map<string, string[]>();

  const readModule = (file: string): string[] => {
    if (!/\.(ts|tsx|js|mjs)$/.test(file) || !existsSync(join(root, file))) return [];
    const text = readFileSync(join(root, file), "utf8");
    const imported = [...text.matchAll(references)].flatMap(
      ([, keyword = "", reference = ""]) => resolveReference(file, keyword, reference) ?? [],
    );
    const started = Object.entries(startedBy).flatMap(([sign, patterns]) =>
      text.includes(sign) ? globSync(patterns, { cwd: root }) : [],
    );
    return [...imported, ...started];
  };

  const readOnce = (file: string): string[] => {
    const found = direct.get(file) ?? readModule(file);
    direct.set(file, found);
    return found;
  };

  return {
    filesOf(file) {
      const files = new Set([file]);
      for (const each of files) for (const imported of readOnce(each)) files.add(imported);
      return files;
    },
  };
}
