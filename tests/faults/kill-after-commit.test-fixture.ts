// Loaded into the API's process with --import: kills the process when PostgreSQL has confirmed the n-th commit, before the API
// sends its response.
import pg from "pg";

let remaining = Number(process.env["KILL_AFTER_COMMITS"]);

// oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply(query, client, args: unknown[]) {
    const pending = Reflect.apply(query, client, args) as unknown;
    if (args[0] !== "commit" || !(pending instanceof Promise)) return pending;
    return pending.then((result: unknown) => {
      remaining -= 1;
      if (remaining === 0) process.kill(process.pid, "SIGKILL");
      return result;
    });
  },
});
