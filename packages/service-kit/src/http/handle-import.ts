import { PassThrough } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Kysely } from "kysely";
import { withSessionLock } from "../database/session-lock.ts";
import { type ImportOutcome, importLimits, importLines, type LineImport } from "./import-lines.ts";
import { allowLongRequest } from "./long-requests.ts";
import { Problem, type ProblemKind } from "./problem.ts";

export const ndjsonMediaType = "application/x-ndjson";

export const importProblems = {
  running: {
    code: "import-running",
    status: 409,
    title: "Another import is running",
    advice: "Only one import of a kind runs at a time. Wait for it to end, or stop its client, and retry.",
  },
} satisfies Record<string, ProblemKind>;

/** The response of a route that imports lines, for the API reference. */
export const importResponse: object = {
  description: "One line for each imported line, in order and after it was committed; then a line with the totals",
  content: {
    [ndjsonMediaType]: { schema: { anyOf: [{ $ref: "ImportResult#" }, { $ref: "ImportSummary#" }] } },
  },
};

const maxImportMs = 3_600_000;
const outputBufferBytes = 65_536;

/** Options of a route that imports lines: the limit of a body is that of a line. */
export const importRouteOptions = {
  bodyLimit: importLimits.maxLineBytes,
  handlerTimeout: maxImportMs,
} as const;

/** Accepts only NDJSON in this scope, and leaves the body to the handler, which reads it as a stream. */
export function acceptNdjson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(ndjsonMediaType, (_request, _payload, done) => done(null, ""));
  scope.addHook("preValidation", (request, _reply, next) => {
    request.body ??= "";
    next();
  });
}

/** Imports the lines of the body, one import of a kind at a time over all processes. */
export async function handleImport<Schema, T>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: {
    database: Kysely<Schema>;
    /** Such as `organisations`. */
    kind: string;
    fromLine: number;
    /** The import runs on the connection that has the lock. */
    createImport: (connection: Kysely<Schema>) => LineImport<T>;
  },
): Promise<FastifyReply> {
  const { database, kind, fromLine, createImport } = options;
  const { server } = request.server;
  const wasListening = server.listening;
  const output = new PassThrough({ highWaterMark: outputBufferBytes });
  const locked = Promise.withResolvers<boolean>();
  let outcome: ImportOutcome | undefined;
  const released = withSessionLock(database, `import of ${kind}`, async (connection) => {
    locked.resolve(true);
    const streams = {
      input: request.raw,
      output,
      fromLine,
      // A graceful shutdown closes the listening socket and then waits for responses.
      isStopping: () => wasListening && !server.listening,
      limits: importLimits,
    };
    outcome = await importLines(createImport(connection), streams);
  });
  // The response ends after the lock is released, so that its client can start the next import at once.
  const end = async (): Promise<void> => {
    locked.resolve(false);
    if (outcome === undefined) return;
    const { summary, error, finish } = outcome;
    const details = { requestId: request.id, kind, ...summary };
    if (error === undefined) request.log.info(details, "import ended");
    else request.log.error({ ...details, err: error }, "import failed; the client can resume it");
    await finish();
  };
  void released.then(end, (error: unknown) => {
    locked.reject(error);
    if (outcome === undefined) output.destroy();
    return end();
  });
  if (!(await locked.promise)) {
    const detail = `An import of ${kind} is running. Retry when it has ended.`;
    throw new Problem(importProblems.running, detail, { headers: { connection: "close" } });
  }
  allowLongRequest(request, reply);
  return reply.header("connection", "close").type(ndjsonMediaType).send(output);
}
