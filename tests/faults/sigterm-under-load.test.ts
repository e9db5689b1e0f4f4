import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, promisedMs, rounds } from "@ehr-marketplace/test-kit";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";

type Outcome = "completed" | "refused" | "lost";

/** Sends one request on a keep-alive connection. Lost: the connection was accepted and the response is missing or incomplete. */
function sendGet(agent: Agent, url: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const body = Buffer.concat(chunks);
        const isComplete = body.length === Number(response.headers["content-length"]);
        // On a busy machine the database may time out; the 503 response counts as completed.
        const isServed = response.statusCode === 200 || body.includes('"code":"unavailable"');
        resolve(isComplete && isServed ? "completed" : "lost");
      });
      response.on("error", () => resolve("lost"));
    });
    request.on("error", ({ code }: NodeJS.ErrnoException) => {
      // The kernel had queued a new connection that the process did not accept; closing the listener resets it.
      const wasNeverAccepted = code === "ECONNRESET" && !request.reusedSocket && request.socket?.bytesRead === 0;
      resolve(code === "ECONNREFUSED" || wasNeverAccepted ? "refused" : "lost");
    });
  });
}

test("SIGTERM under load loses no request: each gets a complete response or its connection is never accepted", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const totals = { completed: 0, refused: 0, lost: 0 };
  for (let round = 0; round < rounds(2, 20); round += 1) {
    const api = await startApiProcess(cleanUp, serviceUrl, { environment: { CATALOG_CACHE_SECONDS: "0" } });
    const requiredResponses = totals.completed + 100 + Math.random() * 100;
    const underLoad = Promise.withResolvers<void>();
    const client = async (path: string): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      let outcome: Outcome = "completed";
      while (outcome === "completed") {
        outcome = await sendGet(agent, `${api.url}/api/v1${path}`);
        totals[outcome] += 1;
        if (totals.completed >= requiredResponses) underLoad.resolve();
      }
      agent.destroy();
    };
    const paths = ["/apps", "/apps?page=1", "/apps/search?q=schedule", "/apps/featured", "/apps/cuffline"];
    const clients = Promise.all([...paths, ...paths, ...paths, ...paths].map(client));
    await Promise.race([underLoad.promise, clients]);
    const began = performance.now();
    api.child.kill("SIGTERM");
    await clients;
    assert.equal(await api.exited, 0);
    assert.ok(performance.now() - began < promisedMs(10_000));
  }
  t.diagnostic(JSON.stringify(totals));
  assert.equal(totals.lost, 0);
});
