// The bare reference worker. `latency`: pg-boss is notified, fetches and POSTs. `drain`: a loop that fetches, inserts and updates
// one log row per job, POSTs and completes.
import pg from "pg";
import { PgBoss } from "pg-boss";
import { Agent, request } from "undici";

const [mode = "", databaseUrl = "", inFlightText = "128"] = process.argv.slice(2);
const inFlight = Number(inFlightText);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const dispatcher = new Agent({ connections: inFlight });
const boss = new PgBoss({ connectionString: databaseUrl, schema: "bare", useListenNotify: true, max: 10 });
boss.on("error", console.error);
await boss.start();

interface Data {
  url: string;
  body: string;
}

async function post(id: string, { url, body }: Data): Promise<void> {
  const headers = { "content-type": "application/json", "x-bench-id": id };
  const response = await request(url, { method: "POST", body, headers, dispatcher });
  await response.body.dump();
}

if (mode === "latency") {
  await boss.work<Data>("bare", { localConcurrency: 8, batchSize: 1, pollingIntervalSeconds: 1 }, async (jobs) => {
    for (const job of jobs) await post(job.id, job.data);
  });
} else {
  let active = 0;
  const deliver = async (id: string, data: Data): Promise<void> => {
    await pool.query("insert into bare_log (id, started_at) values ($1, now())", [id]);
    await post(id, data);
    await pool.query("update bare_log set outcome = 'delivered', status_code = 204 where id = $1", [id]);
    await boss.complete("bare", id);
    active -= 1;
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      const free = inFlight - active;
      const jobs = free === 0 ? [] : await boss.fetch<Data>("bare", { batchSize: free });
      active += jobs.length;
      for (const job of jobs) void deliver(job.id, job.data);
      await new Promise((resolve) => setTimeout(resolve, jobs.length === 0 ? 2 : 0));
    }
  };
  void loop();
}
process.send?.("ready");
