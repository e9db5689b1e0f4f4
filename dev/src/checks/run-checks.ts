// Runs every `check:…` script of package.json, one per core at a time, and exits with 1 if any fails.
//   node dev/src/checks/run-checks.ts
// The output of a check is printed when it ends, so that the lines of two checks don't mix.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { readArguments } from "../command-line.ts";

interface Result {
  script: string;
  passed: boolean;
  seconds: string;
  output: string;
}

const runScript = (script: string): Promise<Result> =>
  new Promise((resolve) => {
    const start = performance.now();
    const options = { maxBuffer: 64 * 1_048_576 };
    execFile("npm", ["run", "--silent", script], options, (error, stdout, stderr) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(0);
      resolve({ script, passed: error === null, seconds, output: stdout + stderr });
    });
  });

const usage = `Usage: npm run check

Runs every check:… script of package.json, as many at a time as there are cores, and fails if one of them fails.
"npm run check:types -- --help" explains one of them.

  --help  print this text

Examples:
  npm run check
  npm run check:types`;

readArguments(usage, {});
const manifest = JSON.parse(await readFile("package.json", "utf8")) as { scripts: Record<string, string> };
const scripts = Object.keys(manifest.scripts).filter((script) => script.startsWith("check:"));
const waiting = [...scripts];
const failed: string[] = [];

async function runWaiting(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    const { passed, seconds, output } = await runScript(script);
    console.log(`${passed ? "✔" : "✖"} ${script} (${seconds} s)`);
    if (output !== "") console.log(output.trimEnd());
    if (!passed) failed.push(script);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
if (scripts.length === 0)
  throw new Error("package.json has no check:… scripts; run this in the folder of the repository");
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
