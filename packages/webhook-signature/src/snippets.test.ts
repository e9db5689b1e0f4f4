import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Vectors, vectors, vectorsFile } from "./vectors.test-fixture.ts";

interface Language {
  name: string;
  command: string;
  probe: string;
  options: string[];
  snippet: string;
  /** For languages without a JSON parser in the standard library. */
  takesFields?: boolean;
}

const snippets = join(import.meta.dirname, "../../../docs/snippets/verify");
const languages: Language[] = [
  {
    name: "TypeScript",
    command: process.execPath,
    probe: "--version",
    options: [],
    snippet: "typescript/verify-webhook.ts",
  },
  { name: "Python", command: "python3", probe: "--version", options: [], snippet: "python/verify_webhook.py" },
  { name: "Go", command: "go", probe: "version", options: ["run"], snippet: "go/verify_webhook.go" },
  {
    name: "Java",
    command: "java",
    probe: "--version",
    options: ["-XX:TieredStopAtLevel=1"],
    snippet: "java/VerifyWebhook.java",
    takesFields: true,
  },
];
const atHand = languages.filter(({ command, probe }) => spawnSync(command, [probe]).status === 0);
const missing = languages.filter((language) => !atHand.includes(language));
const ranNames = atHand.map(({ name }) => name);
const missedNames = [...missing.map(({ name }) => name), "C#"];

function asFields({ marketplace, standard }: Vectors): string {
  const times = { id: "", timestamp: "", now: "" };
  return [
    ...marketplace.map((v) => ({ ...times, ...v, scheme: "marketplace", secrets: [v.secret] })),
    ...standard.map((v) => ({ ...v, scheme: "standard" })),
  ]
    .flatMap((v) => [v.name, v.valid, v.body, v.signature, v.secrets.join("\n"), v.scheme, v.id, v.timestamp, v.now])
    .map((field) => `${field}\0`)
    .join("");
}

const turned: Vectors = {
  marketplace: vectors.marketplace.map((vector) => ({ ...vector, valid: !vector.valid })),
  standard: vectors.standard.map((vector) => ({ ...vector, valid: !vector.valid })),
};
const total = vectors.marketplace.length + vectors.standard.length;

describe(`the snippets keep to the vectors; run: ${ranNames.join(", ")}; not run: ${missedNames.join(", ")}`, () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "snippets-"));
    await writeFile(join(directory, "turned.json"), JSON.stringify(turned));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  function check({ command, options, snippet, takesFields }: Language, file: string, cases: Vectors) {
    const ran = spawnSync(command, [...options, join(snippets, snippet), ...(takesFields ? [] : [file])], {
      input: takesFields ? asFields(cases) : "",
      encoding: "utf8",
      env: { ...process.env, GOTOOLCHAIN: "local", GO111MODULE: "off", PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" },
    });
    return { status: ran.status, said: ran.stdout.trimEnd().split("\n").at(-1), all: ran.stdout + ran.stderr };
  }

  for (const language of atHand) {
    test(`${language.name} agrees with all of them, and notices when they are wrong`, () => {
      const right = check(language, fileURLToPath(vectorsFile), vectors);
      assert.deepEqual([right.status, right.said], [0, `${total} vectors, 0 wrong`], right.all);
      const wrong = check(language, join(directory, "turned.json"), turned);
      assert.deepEqual([wrong.status, wrong.said], [1, `${total} vectors, ${total} wrong`], wrong.all);
    });
  }

  test("TypeScript and Python were run", (t) => {
    for (const { name, command } of missing) t.diagnostic(`${name} was NOT run: there is no ${command} here.`);
    t.diagnostic("C# was NOT run: no test does.");
    assert.ok(ranNames.includes("TypeScript") && ranNames.includes("Python"));
  });
});
