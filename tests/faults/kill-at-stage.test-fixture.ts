// Loaded into a worker with --import: kills the worker when it reaches the stage in KILL_AT.
import pg from "pg";

const stage = process.env["KILL_AT"] ?? "";
const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  throw new Error("dead");
};

/** Prepared statements are passed as an object with a name and a text. */
const textOf = (args: unknown): string =>
  typeof args === "string" ? args : String((args as { text?: unknown } | undefined)?.text);
const isClaim = (text: string): boolean => text.includes("insert into delivery_attempts");
const isSettlement = (text: string): boolean => text.includes("update delivery_attempts");

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client, args: unknown[]) {
    const text = textOf(args[0]);
    if (stage === "claimed" && isClaim(text)) die();
    if (stage === "response received, not settled" && isSettlement(text)) die();
    const pending = Reflect.apply(query, client, args) as unknown;
    if (stage === "log opened" && isClaim(text) && pending instanceof Promise) return pending.then(die);
    return pending;
  },
});
