const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** SQLSTATE classes and codes of a server that is away, full, in recovery, read-only after a failover, or too slow. */
const serverCodes = /^(08...|53...|57014|57P0[1-5]|25006)$/;

/** `pg` reports these without a code. */
const clientMessages =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error/;

export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && (networkCodes.has(code) || serverCodes.test(code))) return true;
  return clientMessages.test(error.message);
}
