import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { runDueStatements, type StepOptions } from "./run-statements.ts";

const logger = createLogger({ service: "test", level: "silent" }, { write: () => undefined });

/** Runs all that is due at a time, without pauses. */
export const runAt = (database: Kysely<DB>, now: Date, options: Partial<StepOptions> = {}): Promise<void> =>
  runDueStatements(
    { database, clock: () => now, logger, stopped: new AbortController().signal },
    { batchSize: 50, pauseAfter: () => 0, ...options },
  );
