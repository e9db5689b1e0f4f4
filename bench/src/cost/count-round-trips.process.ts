// Loaded into a service's process with --import: counts round trips to PostgreSQL, and replies to each message of the parent process
// with the number. A round trip begins when a connection writes for the first time since it has read.
import pg from "pg";

let roundTrips = 0;
/** The types of `pg` don't have this method. */
const prototype = pg.Connection.prototype as unknown as { connect: (...given: unknown[]) => void };
const { connect } = prototype;

prototype.connect = function connectAndCount(this: pg.Connection, ...given: unknown[]) {
  const { stream } = this;
  // First, because it resets the socket's `write`.
  connect.apply(this, given);
  const write = stream.write.bind(stream) as (...parameters: unknown[]) => boolean;
  let waits = false;
  stream.on("data", () => {
    waits = false;
  });
  stream.write = (...parameters: unknown[]): boolean => {
    if (!waits) roundTrips += 1;
    waits = true;
    return write(...parameters);
  };
};

process.on("message", (message) => {
  if (message === "round trips") process.send?.({ roundTrips });
});
