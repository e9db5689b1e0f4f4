import { CompiledQuery, type Kysely, type QueryResult, sql } from "kysely";

/** A database or a transaction. */
export type Executor = Pick<Kysely<never>, "executeQuery" | "getExecutor">;

/** On a connection outside of a transaction, nothing might follow a deferred statement. */
export type OpenTransaction = Executor & { readonly isTransaction: true };

interface Compilable<Row> {
  compile(database: Executor): CompiledQuery<Row>;
}

export interface ExecutionOptions {
  /** The name of the prepared statement, or `unprepared`. */
  name: string;
  /** Whether the statement is sent with the next one. */
  isDeferred: boolean;
  /** Gets the result of a deferred statement, and a function that sends it unless it was sent. */
  onDeferred?: (result: Promise<{ rows: unknown[] }>, sendNow: () => void) => void;
}

/**
 * Instead of a name: the statement is parsed and planned for its values each time. For statements on partitioned tables, of which a
 * generic plan would lock every partition.
 */
export const unprepared = "";

/** Kysely passes only a statement's text and its parameters to the connection. The array of parameters is unique to each execution. */
const optionsByParameters = new WeakMap<object, ExecutionOptions>();

export const findExecutionOptions = (parameters: unknown): ExecutionOptions | undefined =>
  Array.isArray(parameters) ? optionsByParameters.get(parameters) : undefined;

/**
 * Executes a prepared statement, which each connection parses and plans once under its name. Use it for frequent statements whose best
 * plan is the same for all values, where planning costs more than execution. A name belongs to one text.
 */
export const executePrepared = <Row>(
  database: Executor,
  name: string,
  statement: Compilable<Row>,
): Promise<QueryResult<Row>> => execute(database, statement.compile(database), { name, isDeferred: false });

/**
 * Executes a prepared statement of a transaction together with the next one that isn't deferred, at the latest with the commit: one round
 * trip for all of them. For statements whose result doesn't matter. If it fails, the next one or the commit fails with its error.
 */
export async function executeDeferred(
  transaction: OpenTransaction,
  name: string,
  statement: Compilable<unknown>,
): Promise<void> {
  await execute(transaction, statement.compile(transaction), { name, isDeferred: true });
}

/** The same for a statement whose rows are read later, by the returned function; if it wasn't sent by then, it is sent. */
export async function deferRows<Row>(
  transaction: OpenTransaction,
  name: string,
  statement: Compilable<Row>,
): Promise<() => Promise<Row[]>> {
  let readRows = (): Promise<Row[]> => Promise.reject(new Error("the statement was not deferred"));
  const onDeferred: ExecutionOptions["onDeferred"] = (result, sendNow) => {
    readRows = async () => {
      sendNow();
      return (await result).rows as Row[];
    };
  };
  await execute(transaction, statement.compile(transaction), { name, isDeferred: true, onDeferred });
  return () => readRows();
}

/**
 * Lets the rest of the transaction execute its prepared statements with plans that don't depend on parameters. Otherwise PostgreSQL plans
 * a statement with an array each time, because it assumes ten elements where there are fewer.
 */
export const useGenericPlans = (transaction: OpenTransaction): Promise<void> =>
  executeDeferred(transaction, "use-generic-plans", setPlanCacheMode);

const setPlanCacheMode = sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** Executes the text of a library. */
export const executeText = <Row>(
  database: Executor,
  text: string,
  parameters: unknown[],
  options: ExecutionOptions,
): Promise<QueryResult<Row>> =>
  execute(database, CompiledQuery.raw(text, [...parameters]) as CompiledQuery<Row>, options);

function execute<Row>(
  database: Executor,
  compiled: CompiledQuery<Row>,
  options: ExecutionOptions,
): Promise<QueryResult<Row>> {
  optionsByParameters.set(compiled.parameters, options);
  return database.executeQuery(compiled);
}
