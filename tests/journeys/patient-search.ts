import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { withClient } from "@ehr-marketplace/dev/postgres";
import type { CleanUp } from "@ehr-marketplace/tests/support";

export interface Collector {
  url: string;
  /** All that was sent to it, as it came. */
  received(): string;
}

/** What OpenTelemetry calls a collector: takes what is sent to it. */
export async function startCollector(cleanUp: CleanUp): Promise<Collector> {
  const chunks: Buffer[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received: () => Buffer.concat(chunks).toString("latin1") };
}

/** An id as it may be written: with dashes or without, and as the bytes of a text or of a UUID. */
export function waysToWrite(id: string): string[] {
  const digits = id.replaceAll("-", "");
  return [id, digits, Buffer.from(id).toString("hex"), Buffer.from(digits, "hex").toString("base64").slice(0, 21)];
}

export function mentions(text: string, id: string): boolean {
  const lower = text.toLowerCase();
  return waysToWrite(id).some((written) => lower.includes(written.toLowerCase()));
}

const everyTable = `
select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'm') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`;

/** Which tables have a row with it, in whatever column and schema; a partition counts as the table that it is of. */
export function tablesThatMention(ownerUrl: string, id: string): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const found = new Set<string>();
    for (const { name } of (await client.query<{ name: string }>(everyTable)).rows) {
      const written = waysToWrite(id).map((way) => `%${way.toLowerCase()}%`);
      const row = `select from only ${name} as row where lower(to_jsonb(row)::text) like any ($1) limit 1`;
      if ((await client.query(row, [written])).rowCount !== 0) found.add(name.replace(/_\d{8}$/, ""));
    }
    return [...found];
  });
}
