// Loaded into a worker before its own code: it dies, as by kill -9, the moment it reaches the stage that is named.
import pg from "pg";

const stage = process.env["KILL_AT"] ?? "";
const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  throw new Error("dead");
};

/** A statement that is planned once is given with its name. */
const textOf = (given: unknown): string =>
  typeof given === "string" ? given : String((given as { text?: unknown } | undefined)?.text);
const isClaim = (text: string): boolean => text.includes("insert into delivery_attempts");
const isSettling = (text: string): boolean => text.includes("update delivery_attempts");

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client, given: unknown[]) {
    const text = textOf(given[0]);
    if (stage === "claimed" && isClaim(text)) die();
    if (stage === "judged and not settled" && isSettling(text)) die();
    const answer = Reflect.apply(query, client, given) as unknown;
    if (stage === "log opened" && isClaim(text) && answer instanceof Promise) return answer.then(die);
    return answer;
  },
});
