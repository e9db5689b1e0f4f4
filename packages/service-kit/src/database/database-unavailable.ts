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

/** SQLSTATE classes and codes of a server that is unreachable, full, in recovery, read-only after a failover, or too slow. */
const serverCodes = /^(08...|53...|57014|57P0[1-5]|25006)$/;

/** `pg` reports these without a code. */
const clientMessages =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error/;

const connectTimeout = /timeout exceeded when trying to connect|Connection terminated due to connection timeout/;

/** Whether the pool has given up to wait for a connection. */
export const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && connectTimeout.test(error.message);

/** SQLSTATE codes of a wrong password, and of an unknown role or one that may not connect. */
const loginCodes = new Set<unknown>(["28P01", "28000"]);

/** Thrown by operations that depend on an earlier database operation, when that one failed because the database was unavailable. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
}

export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailableError) return true;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && (networkCodes.has(code) || serverCodes.test(code))) return true;
  return clientMessages.test(error.message);
}

/** A refused login isn't an outage: it stays refused until the connection string or the role is corrected. */
export function isRefusedLogin(error: unknown): boolean {
  return error instanceof Error && loginCodes.has((error as { code?: unknown }).code);
}
