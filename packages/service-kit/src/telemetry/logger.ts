import {
  type Bindings,
  type ChildLoggerOptions,
  destination as createDestination,
  type DestinationStream,
  type Logger,
  pino,
  stdTimeFunctions,
} from "pino";
import { redactCredentials, redactSecrets } from "./redact-secrets.ts";

export type { Logger } from "pino";

/** Some libraries report errors as plain objects, such as pg-boss. */
const isErrorLike = (error: unknown): error is Partial<Error> =>
  error instanceof Error ||
  (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string");

function describeError(error: unknown): Record<string, unknown> {
  if (!isErrorLike(error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name ?? "Error",
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

const maxBufferedBytes = 1_048_576;

/**
 * Writes each line to standard output. Logging must neither stop the service nor delay its shutdown: if the reader is slow (EAGAIN), lines
 * are buffered until the next write, up to a limit above which they are dropped; if the reader has gone, lines are dropped.
 */
function createStandardOutput(): DestinationStream {
  const output = createDestination({ dest: 1, sync: true, maxLength: maxBufferedBytes, retryEAGAIN: () => false });
  output.on("error", () => undefined);
  return output;
}

export function createLogger(
  options: { service: string; level: string },
  destination: DestinationStream = createStandardOutput(),
): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redactSecrets },
      hooks: { streamWrite: redactCredentials },
      serializers: { err: describeError },
    },
    destination,
  );
  // Pino doesn't run formatters on the bindings of a child logger, so they are redacted here.
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the current logger as its `this`
  const child: (this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions) => Logger = logger.child;
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions): Logger {
      return child.call(this, redactSecrets(bindings), childOptions);
    },
  });
}
