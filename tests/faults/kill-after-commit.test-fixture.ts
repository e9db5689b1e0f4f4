// Loaded into the API's process before its own code: it dies, as by kill -9, the moment PostgreSQL has said that the
// transaction of this number is committed, and before anybody was answered.
import pg from "pg";

let left = Number(process.env["KILL_AFTER_COMMITS"]);

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client, given: unknown[]) {
    const answer = Reflect.apply(query, client, given) as unknown;
    if (given[0] !== "commit" || !(answer instanceof Promise)) return answer;
    return answer.then((done: unknown) => {
      left -= 1;
      if (left === 0) process.kill(process.pid, "SIGKILL");
      return done;
    });
  },
});
