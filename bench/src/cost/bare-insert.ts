import { randomUUID } from "node:crypto";
import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";
import { readProcessCpuMs } from "./used-cpu.ts";

const inserts = 2_000;

/** The CPU time of one insert and its commit by `pg` alone, in the client and its backend: it shows how fast the machine is. */
export function measureBareInsert(url: string): Promise<number> {
  return withClient(url, async (client) => {
    await client.query("create table bare_events (id uuid primary key, payload text)");
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const readCpuMs = async (): Promise<number> =>
      (await readProcessCpuMs(process.pid)) + (await readProcessCpuMs(rows[0]?.pid ?? 0));
    await insertMany(client);
    const before = await readCpuMs();
    await insertMany(client);
    return ((await readCpuMs()) - before) / inserts;
  });
}

async function insertMany(client: pg.Client): Promise<void> {
  const insert = { name: "insert", text: "insert into bare_events values ($1, $2)" };
  for (let nth = 0; nth < inserts; nth += 1) {
    await client.query({ ...insert, values: [randomUUID(), "x".repeat(500)] });
  }
}
