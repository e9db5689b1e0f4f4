import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { getSharedPart, rounds } from "@ehr-marketplace/test-kit";

/** Sends generated requests to every operation of a document and validates the responses against it. */
export async function runSchemathesis(
  t: TestContext,
  documentUrl: string,
  headers: Record<string, string>,
): Promise<void> {
  const { file } = await getSharedPart<{ file: string }>("schemathesis");
  // The gate uses one seed, so that a commit fails for what it changes; the slow tier explores with a new one each time.
  const seed = rounds(1, Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const examples = ["--max-examples", String(rounds(15, 60)), "--generation-database", "none"];
  // Health checks are about the generator: on a busy machine it is slow, and with some seeds it discards too many requests.
  const lenient = ["--suppress-health-check", "all"];
  const args = ["run", documentUrl, "--checks", "all", "--seed", String(seed), "--no-color", ...examples, ...lenient];
  const headerArgs = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const { stdout } = await promisify(execFile)(file, [...args, ...headerArgs], {
    maxBuffer: 64 * 1_048_576,
  }).catch(({ stdout: printed, stderr }: { stdout: string; stderr: string }) => {
    // What comes before is a list of what passed.
    assert.fail(`seed ${seed}\n${printed.slice(Math.max(0, printed.indexOf("= FAILURES =")))}\n${stderr}`);
  });
  t.diagnostic(stdout.trim().split("\n").slice(-12).join("\n"));
  const [, selected] = /Selected: (\d+)\/\d+/.exec(stdout) ?? [];
  const { paths } = (await (await fetch(documentUrl)).json()) as { paths: Record<string, Record<string, object>> };
  const operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods) as { operationId: string }[])
    // schemathesis.toml excludes imports.
    .filter(({ operationId }) => !operationId.startsWith("import"));
  assert.equal(Number(selected), operations.length, "every other operation is tested");
  // Schemathesis may warn that it found no ids for follow-up requests; other tests cover the life of subscriptions.
  const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(stdout) ?? [];
  assert.ok(generated !== undefined && Number(generated) > 500, "requests were generated");
  assert.ok(!/\d+ failed/.test(stdout), `${passed} of ${generated} passed`);
}
