import { createHash } from "node:crypto";
import type { Db } from "pg-boss";
import { executeText, type OpenTransaction } from "../database/execute-prepared.ts";

const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `pgboss-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  names.set(text, name);
  return name;
}

/**
 * Executes pg-boss's statements as prepared ones in this transaction; deferred ones return no rows. Only for calls whose statements have
 * few texts: that of `fetch` contains its limit.
 */
export const preparedJobs = (transaction: OpenTransaction, { isDeferred = false } = {}): Db => ({
  async executeSql(text, values = []) {
    const { rows } = await executeText(transaction, text, values, { name: nameOf(text), isDeferred });
    return { rows };
  },
});
