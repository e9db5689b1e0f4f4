import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type CleanUp, cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { freePort } from "../free-port.ts";
import { startService } from "./service-process.ts";

const service = `
  import { createServer } from "node:http";
  import { text } from "./text.ts";
  createServer((_, response) => response.end(text)).listen(Number(process.env["PORT"]), "127.0.0.1");`;

async function createFolder(cleanUp: CleanUp): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "service-process-"));
  cleanUp(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "service.ts"), service);
  await writeFile(join(directory, "text.ts"), 'export const text = "first";');
  return directory;
}

async function start(cleanUp: CleanUp, directory: string, inspectPort?: number) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const entry = join(directory, "service.ts");
  const running = await startService({
    name: "tested",
    entry,
    environment: { PORT: String(port) },
    readyUrl: url,
    inspectPort,
  });
  cleanUp(() => running.stop());
  /** `undefined` if the service isn't running. */
  const responds = (expected: string | undefined): Promise<void> =>
    eventually(`the service responds with ${expected}`, 30_000, async () => {
      const response = await fetch(url).catch(() => undefined);
      return (await response?.text()) === expected;
    });
  return { entry, responds };
}

test("a service of the local stack has an inspector on the port that it is given", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const inspectPort = await freePort();
  const { entry } = await start(cleanUp, await createFolder(cleanUp), inspectPort);
  const targets = await fetch(`http://127.0.0.1:${inspectPort}/json/list`);
  assert.deepEqual(
    ((await targets.json()) as { title: string }[]).map(({ title }) => title),
    [entry],
  );
});

test("a service restarts each time when a file is written, replaced or moved, and after a mistake is corrected", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const directory = await createFolder(cleanUp);
  const { responds } = await start(cleanUp, directory);
  const write = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text);
  /** As `sed -i`, `git checkout` and many editors save. */
  const replace = async (text: string): Promise<void> => {
    await write("text.ts.new", text);
    await rename(join(directory, "text.ts.new"), join(directory, "text.ts"));
  };
  await replace('export const text = "replaced";');
  await responds("replaced");
  await replace('export const text = "replaced again";');
  await responds("replaced again");
  await write("text.ts", 'export const text = "written";');
  await responds("written");
  await mkdir(join(directory, "texts"));
  await write("texts/moved.ts", 'export const text = "moved";');
  await replace('export { text } from "./texts/moved.ts";');
  await responds("moved");
  await write("texts/moved.ts", 'export const text = "changed in a new folder";');
  await responds("changed in a new folder");
  await replace("export const mistake = ;");
  await responds(undefined);
  await replace('export const text = "corrected";');
  await responds("corrected");
});

test("a service that can't be started is reported at once", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const directory = await createFolder(cleanUp);
  await writeFile(join(directory, "text.ts"), "export const mistake = 1;");
  await assert.rejects(start(cleanUp, directory), /^Error: tested ended before it was ready; its output is above\.$/);
});
