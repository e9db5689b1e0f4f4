import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const source = new URL("./gathered-lines.ts", import.meta.url).href;

function run(script: string): ChildProcess {
  const code = `import { gatheredLines } from ${JSON.stringify(source)}; const log = gatheredLines(1); ${script}`;
  return spawn(process.execPath, ["--input-type=module-typescript", "--eval", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

test("every line is there when the process has ended, in order, however it ended", async () => {
  const child = run("for (let n = 0; n < 5000; n += 1) log.write(`line ${n}\\n`); process.exit(3);");
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number];
  assert.equal(code, 3);
  assert.equal(output, Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join(""));
});

test("a line goes out within a moment, though nothing follows it", async () => {
  const child = run("log.write('alone\\n'); setTimeout(() => {}, 60_000);");
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  assert.equal(chunk.toString(), "alone\n");
  child.kill("SIGKILL");
});

test("a reader that is gone neither stops the process nor keeps it from stopping", async () => {
  const child = run(`
    process.stdin.once("data", () => {
      for (let n = 0; n < 5000; n += 1) log.write("nobody reads this\\n");
      setTimeout(() => process.exit(7), 600);
    });
    log.write("ready\\n");`);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.stdout?.destroy();
  child.stdin?.write("go\n");
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 7);
});
