// Writes the package as it is published: node scripts/build.ts [directory], by default to ./build.
// The workspace's own exports lead to the source, which Node runs without a build. npm can't rewrite exports when it
// packs, and Node refuses to strip types below node_modules, so what is published gets a package.json of its own.
import { execFile } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const workspace = join(import.meta.dirname, "..");
const root = join(workspace, "../..");

const publishedExports = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./vectors.json": "./vectors.json",
  "./package.json": "./package.json",
};

export async function buildPackage(directory: string): Promise<void> {
  await rm(join(directory, "dist"), { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const compiler = join(root, "node_modules/.bin/tsc");
  const project = join(workspace, "tsconfig.build.json");
  await promisify(execFile)(process.execPath, [compiler, "--project", project, "--outDir", join(directory, "dist")]);
  await pointDeclarationsToJavaScript(join(directory, "dist"));

  const manifest = JSON.parse(await readFile(join(workspace, "package.json"), "utf8")) as Record<string, unknown>;
  const { private: _, scripts: __, devDependencies: ___, ...published } = manifest;
  const text = JSON.stringify(
    { ...published, exports: publishedExports, publishConfig: { access: "public" } },
    null,
    2,
  );
  await writeFile(join(directory, "package.json"), `${text}\n`);
  await cp(join(workspace, "README.md"), join(directory, "README.md"));
  await cp(join(workspace, "vectors.json"), join(directory, "vectors.json"));
  await cp(join(root, "LICENSE"), join(directory, "LICENSE"));
}

/** The compiler rewrites imports in code but leaves .ts in declarations, which older compilers refuse. */
async function pointDeclarationsToJavaScript(directory: string): Promise<void> {
  for await (const file of glob(join(directory, "*.d.ts"))) {
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replaceAll(/(?<= from "\.\/[^"]+)\.ts(?=";)/g, ".js"));
  }
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(workspace, "build"));
