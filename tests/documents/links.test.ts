import assert from "node:assert/strict";
import { access, glob, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const markdownFiles = await Array.fromAsync(glob("**/*.md", { cwd: root, exclude: ["**/node_modules/**", ".*/**"] }));

interface Link {
  text: string;
  /** Relative to the root of the repository. */
  file: string;
  anchor: string;
}

const withoutCode = (markdown: string): string => markdown.replaceAll(/^ *(```+)[\s\S]*?^ *\1 *$/gm, "");

/** Finds links to files of the repository. A link's text may contain code spans with brackets. */
async function linksIn(file: string): Promise<Link[]> {
  const markdown = withoutCode(await readFile(join(root, file), "utf8"));
  const links = markdown.matchAll(/\[((?:`[^`]*`|[^\][`])*)\]\(([^)\s]+)\)/g);
  return [...links]
    .map(([, text = "", target = ""]) => ({ text, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
    .map(({ text, target }) => {
      const [path = "", anchor = ""] = target.split("#");
      return { text, file: path === "" ? file : normalize(join(dirname(file), path)), anchor };
    });
}

/** Returns the anchors that GitHub generates for headings. */
async function anchorsOf(file: string): Promise<string[]> {
  const headings = withoutCode(await readFile(join(root, file), "utf8")).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const exists = (file: string): Promise<boolean> =>
  access(join(root, file)).then(
    () => true,
    () => false,
  );

test("every link in a document points to an existing file and heading", async () => {
  assert.ok(markdownFiles.includes("README.md"));
  const broken: string[] = [];
  for (const from of markdownFiles) {
    for (const { file, anchor } of await linksIn(from)) {
      const isBroken =
        !(await exists(file)) || (anchor !== "" && file.endsWith(".md") && !(await anchorsOf(file)).includes(anchor));
      if (isBroken) broken.push(`${from}: ${file}${anchor === "" ? "" : `#${anchor}`}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("the index of decisions has every record", async () => {
  const records = markdownFiles.filter((file) => /^docs\/decisions\/\d{4}-/.test(file));
  const listed = new Set((await linksIn("docs/decisions/README.md")).map(({ file }) => file));
  assert.ok(records.length > 30);
  assert.deepEqual(
    records.filter((file) => !listed.has(file)),
    [],
  );
});

for (const [document, least] of [
  ["SECURITY.md", 60],
  ["docs/shared-pools.md", 15],
] as const) {
  test(`every test that ${document} names is in the file that it links to`, async () => {
    const tests = (await linksIn(document)).filter(({ file }) => file.endsWith(".ts"));
    assert.ok(tests.length >= least);
    const missing: string[] = [];
    for (const { text, file } of tests) {
      const source = await readFile(join(root, file), "utf8");
      if (text.length < 10 || !source.includes(text)) missing.push(`${file}: ${text}`);
    }
    assert.deepEqual(missing, []);
  });
}

test("every threat in SECURITY.md names a test", async () => {
  const markdown = await readFile(join(root, "SECURITY.md"), "utf8");
  const [, threats = ""] = /^## Threats$([\s\S]*?)^## /m.exec(markdown) ?? [];
  const rows = threats.split("\n").filter((line) => /^\| [STRIDE]/.test(line) && !line.startsWith("| STRIDE"));
  assert.ok(rows.length >= 40, `${rows.length} rows`);
  assert.deepEqual(
    rows.filter((row) => !/\]\([^)]+\.ts\) *\|$/.test(row)),
    [],
  );
});
