import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const source = new URL("./buffered-output.ts", import.meta.url).href;

function run(script: string): ChildProcess {
  const code = `import { createBufferedOutput } from ${JSON.stringify(source)}; const log = createBufferedOutput(1); ${script}`;
  return spawn(process.execPath, ["--input-type=module-typescript", "--eval", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

test("all lines are written in order when the process ends, normally or by an error", async () => {
  const child = run("for (let n = 0; n < 5000; n += 1) log.write(`line ${n}\\n`); process.exit(3);");
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number];
  assert.equal(code, 3);
  assert.equal(output, Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join(""));
});

test("a single line is written within the flush interval", async () => {
  const child = run("log.write('alone\\n'); setTimeout(() => {}, 60_000);");
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  assert.equal(chunk.toString(), "alone\n");
  child.kill("SIGKILL");
});

test("a closed reader neither stops the process nor blocks its exit", async () => {
  const child = run(`
    process.stdin.once("data", () => {
      for (let n = 0; n < 5000; n += 1) log.write("not read\\n");
      setTimeout(() => process.exit(7), 600);
    });
    log.write("ready\\n");`);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.stdout?.destroy();
  child.stdin?.write("go\n");
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 7);
});
