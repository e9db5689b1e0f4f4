import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../free-port.ts";
import { startService } from "./service-process.ts";

test("a service of the local stack has an inspector on the port that it is given", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "service-process-"));
  const entry = join(directory, "service.mjs");
  await writeFile(
    entry,
    `import { createServer } from "node:http";
     createServer((_, response) => response.end()).listen(process.env.PORT, "127.0.0.1");`,
  );
  const [port, inspectPort] = [await freePort(), await freePort()];
  const service = await startService({
    name: "inspected",
    entry,
    environment: { PORT: String(port) },
    readyUrl: `http://127.0.0.1:${port}`,
    inspectPort,
  });
  t.after(async () => {
    await service.stop();
    await rm(directory, { recursive: true });
  });
  const targets = await fetch(`http://127.0.0.1:${inspectPort}/json/list`);
  assert.deepEqual(
    ((await targets.json()) as { title: string }[]).map(({ title }) => title),
    [entry],
  );
});
