import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const source = new URL("./logger.ts", import.meta.url).href;

function run(script: string): ChildProcess {
  const code = `import { createLogger } from ${JSON.stringify(source)}; const logger = createLogger({ service: "test", level: "info" }); ${script}`;
  return spawn(process.execPath, ["--input-type=module-typescript", "--eval", code], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
}

async function readLines(child: ChildProcess): Promise<{ code: number; messages: unknown[] }> {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number];
  const lines = output.trimEnd().split("\n");
  return { code, messages: lines.map((line) => (JSON.parse(line) as Record<string, unknown>)["msg"]) };
}

const everyMessage = Array.from({ length: 500 }, (_, n) => `line ${n}`);

for (const [ending, end, expectedCode] of [
  ["exits", "process.exit(3);", 3],
  ["crashes", 'process.on("uncaughtException", (err) => { logger.fatal("crash"); process.exit(4); }); throw 1;', 4],
] as const) {
  test(`all lines are written in order before the process ${ending}`, async () => {
    const { code, messages } = await readLines(
      run(`for (let n = 0; n < 500; n += 1) logger.info(\`line \${n}\`); ${end}`),
    );
    assert.equal(code, expectedCode);
    assert.deepEqual(messages, expectedCode === 4 ? [...everyMessage, "crash"] : everyMessage);
  });
}

test("a line is written immediately, so that a killed process loses none", async () => {
  const child = run("logger.info('alone'); process.kill(process.pid, 'SIGKILL');");
  assert.deepEqual((await readLines(child)).messages, ["alone"]);
});

test("a closed reader neither stops the process nor blocks its exit, even after a fatal error", async () => {
  const child = run(`
    process.stdin.once("data", () => {
      for (let n = 0; n < 5000; n += 1) logger.info("not read");
      logger.fatal("not read either");
      setTimeout(() => process.exit(7), 10);
    });
    logger.info("ready");`);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.stdout?.destroy();
  child.stdin?.write("go\n");
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 7);
});

// Loading `process.stdout` makes writes to a full pipe fail with EAGAIN; otherwise they block.
const withoutBlocking = "void process.stdout;";

test("a reader that doesn't read neither stops the process nor blocks its exit, even after a fatal error", async () => {
  const child = run(`${withoutBlocking}
    for (let n = 0; n < 50_000; n += 1) logger.info("not read");
    logger.fatal("not read either");
    setTimeout(() => process.exit(7), 10);`);
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 7);
});

test("a reader that pauses gets the lines that were buffered meanwhile", async () => {
  const child = run(`${withoutBlocking}
    for (let n = 0; n < 4_000; n += 1) logger.info("buffered");
    process.send("paused");
    process.stdin.once("data", () => setInterval(() => logger.info("after the pause"), 5));`);
  await once(child, "message");
  child.stdin?.write("go\n");
  let output = "";
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    output += String(chunk);
    if (output.includes("after the pause")) break;
  }
  assert.equal(output.match(/"buffered"/g)?.length, 4_000);
  child.kill("SIGKILL");
});
