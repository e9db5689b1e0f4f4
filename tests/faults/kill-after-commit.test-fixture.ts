// Loaded into a service's process with --import: kills the process when PostgreSQL has confirmed the n-th commit, before the API
// sends its response, or some time later. With a table, only commits of transactions that use it count.
import pg from "pg";

const { KILL_AFTER_COMMITS, KILL_DELAY_MS = "0", KILL_TABLE = "" } = process.env;
let remaining = Number(KILL_AFTER_COMMITS);
const counted = new WeakSet<object>();

function countCommit(): void {
  remaining -= 1;
  if (remaining !== 0) return;
  const kill = (): boolean => process.kill(process.pid, "SIGKILL");
  if (KILL_DELAY_MS === "0") kill();
  else setTimeout(kill, Number(KILL_DELAY_MS));
}

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client: object, args: unknown[]) {
    const pending = Reflect.apply(query, client, args) as unknown;
    const [statement] = args;
    const text = typeof statement === "string" ? statement : String((statement as { text?: unknown }).text);
    if (text.includes(KILL_TABLE)) counted.add(client);
    if (statement !== "commit" || !(pending instanceof Promise) || !counted.delete(client)) return pending;
    return pending.then((result: unknown) => {
      countCommit();
      return result;
    });
  },
});
