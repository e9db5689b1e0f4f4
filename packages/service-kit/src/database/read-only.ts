/**
 * Fails with SQLSTATE 25006 where nothing can be written: on a standby, and where `default_transaction_read_only` is on. A connection that
 * has met this code is closed, because a fail-over may have moved the database to another server while this one still answers.
 */
export const requireWritable = `
  do $$ begin
    if current_setting('transaction_read_only')::boolean then
      raise exception using errcode = 'read_only_sql_transaction',
        message = case when pg_is_in_recovery() then 'the database is a standby' else 'the database is read-only' end;
    end if;
  end $$`;

export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === "25006";
