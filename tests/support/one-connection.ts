/**
 * No code acquires a second connection while it holds one: ten requests that did would hold all ten connections of a pool while
 * each waits for an eleventh. With a pool of one, a single such request waits for itself until it is answered 503.
 */
export const oneConnection = { DATABASE_POOL_SIZE: "1" };
