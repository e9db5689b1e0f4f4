/**
 * Detects code that acquires a second connection while it holds one, which can deadlock a pool: with a pool of one connection, such
 * a request waits for itself until it times out with 503.
 */
export const singleConnectionPool = { DATABASE_POOL_SIZE: "1" };
