// Loaded into a worker before its own code: it dies, as by kill -9, the moment it reaches the stage that is named.
import pg from "pg";

const stage = process.env["KILL_AT"] ?? "";
const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  throw new Error("dead");
};

const isClaim = (text: unknown): boolean => typeof text === "string" && text.includes("insert into delivery_attempts");
const isSettling = (text: unknown): boolean => typeof text === "string" && text.includes("update delivery_attempts");

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client, given: unknown[]) {
    const [text] = given;
    if (stage === "claimed" && isClaim(text)) die();
    if (stage === "judged and not settled" && isSettling(text)) die();
    const answer = Reflect.apply(query, client, given) as unknown;
    if (stage === "log opened" && isClaim(text) && answer instanceof Promise) return answer.then(die);
    return answer;
  },
});
