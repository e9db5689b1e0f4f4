import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What the build depends on, relative to the repository; the lock file stands for the libraries. */
const patterns = [
  "package-lock.json",
  "services/web/scripts/*.ts",
  "services/web/src/{catalog,console,design,islands,storefront}/**/*.{ts,tsx,css,svg}",
  "packages/{client,config-schema,contracts,listing-rules,markdown}/src/**/*.ts",
];

/** A hash of all files from which the pages are built. */
export async function hashInputs(service: string): Promise<string> {
  const root = join(service, "../..");
  const hash = createHash("sha256");
  const files = (await Array.fromAsync(glob(patterns, { cwd: root }))).filter(
    (file) => !/\.test(-\w+)?\.ts$/.test(file),
  );
  for (const file of files.toSorted()) {
    hash.update(`${file}\0`);
    hash.update(await readFile(join(root, file)));
  }
  return hash.digest("hex");
}
