import pg from "pg";
import { DecryptionError, type Encryption } from "./encryption.ts";

/** A column with secrets that a service has encrypted. */
export interface EncryptedColumn {
  table: string;
  /** The primary key. */
  key: string;
  column: string;
  /** The `owner` that the secret of the row with this key was encrypted for. */
  ownerOf: (key: string) => string;
}

export interface UndecryptableSecret {
  /** Table and column. */
  column: string;
  /** The primary key of the row. */
  row: string;
  error: DecryptionError;
}

interface Row {
  key: string;
  encrypted: string | null;
}

/** A value may have many kilobytes, and a page of them is in memory at once. */
const pageSize = 100;

/** Reads rows, also those without a secret: skipping them in SQL could read the whole table for one page. */
async function readPage(pool: pg.Pool, from: EncryptedColumn, order: "asc" | "desc", after?: string): Promise<Row[]> {
  const [table, key, column] = [from.table, from.key, from.column].map((name) => pg.escapeIdentifier(name));
  const { rows } = await pool.query<Row>(
    `select ${key}::text as key, ${column} as encrypted from ${table}
     ${after === undefined ? "" : `where ${key} > $1`} order by ${table}.${key} ${order} limit ${pageSize}`,
    after === undefined ? [] : [after],
  );
  return rows;
}

function decryptAll(encryption: Encryption, rows: Row[], from: EncryptedColumn): UndecryptableSecret[] {
  const found: UndecryptableSecret[] = [];
  for (const { key, encrypted } of rows) {
    if (encrypted === null) continue;
    const onError = (error: DecryptionError): void => {
      found.push({ column: `${from.table}.${from.column}`, row: key, error });
    };
    encryption.decryptIfPossible(encrypted, from.ownerOf(key), onError);
  }
  return found;
}

/** Decrypts every secret of the column, page by page, and yields those that can't be decrypted. */
export async function* findUndecryptable(
  pool: pg.Pool,
  encryption: Encryption,
  column: EncryptedColumn,
): AsyncGenerator<UndecryptableSecret> {
  let page = await readPage(pool, column, "asc");
  while (page.length > 0) {
    yield* decryptAll(encryption, page, column);
    page = page.length < pageSize ? [] : await readPage(pool, column, "asc", page.at(-1)?.key);
  }
}

/**
 * Decrypts only the first and the last page of the column, at a cost that doesn't grow with the table. Re-encryption goes by the key, so
 * if it was interrupted, the first page has the new version and the last one the old.
 */
export async function sampleUndecryptable(
  pool: pg.Pool,
  encryption: Encryption,
  column: EncryptedColumn,
): Promise<UndecryptableSecret[]> {
  const pages = [await readPage(pool, column, "asc"), await readPage(pool, column, "desc")];
  return decryptAll(encryption, pages.flat(), column);
}
