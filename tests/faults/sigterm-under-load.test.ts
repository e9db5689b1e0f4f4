import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, rounds, startApiProcess } from "@ehr-marketplace/tests/support";

type Outcome = "answered" | "refused" | "lost";

/** One request on a connection that is kept open. Lost: it was accepted, and its answer never came or came cut short. */
function ask(agent: Agent, url: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const body = Buffer.concat(chunks);
        const whole = body.length === Number(answer.headers["content-length"]);
        // On a machine that others keep busy, the database may take too long: that it says so is an answer too.
        const served = answer.statusCode === 200 || body.includes('"code":"unavailable"');
        resolve(whole && served ? "answered" : "lost");
      });
      answer.on("error", () => resolve("lost"));
    });
    request.on("error", ({ code }: NodeJS.ErrnoException) => {
      // The kernel had queued a new connection that a busy process never came to accept: its listener's end resets it.
      const neverAccepted = code === "ECONNRESET" && !request.reusedSocket && request.socket?.bytesRead === 0;
      resolve(code === "ECONNREFUSED" || neverAccepted ? "refused" : "lost");
    });
  });
}

test("SIGTERM under load loses no request: each is answered whole, or its connection was never accepted", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const totals = { answered: 0, refused: 0, lost: 0 };
  for (let round = 0; round < rounds(2, 20); round += 1) {
    const api = await startApiProcess(cleanUp, serviceUrl, { environment: { CATALOG_CACHE_SECONDS: "0" } });
    const enough = totals.answered + 100 + Math.random() * 100;
    const underLoad = Promise.withResolvers<void>();
    const client = async (path: string): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      let outcome: Outcome = "answered";
      while (outcome === "answered") {
        outcome = await ask(agent, `${api.url}/api/v1${path}`);
        totals[outcome] += 1;
        if (totals.answered >= enough) underLoad.resolve();
      }
      agent.destroy();
    };
    const paths = ["/apps", "/apps?page=1", "/apps/search?q=schedule", "/apps/featured", "/apps/cuffline"];
    const clients = Promise.all([...paths, ...paths, ...paths, ...paths].map(client));
    await Promise.race([underLoad.promise, clients]);
    const began = performance.now();
    api.child.kill("SIGTERM");
    await clients;
    assert.equal(await api.ended, 0);
    assert.ok(performance.now() - began < 10_000);
  }
  t.diagnostic(JSON.stringify(totals));
  assert.equal(totals.lost, 0);
});
