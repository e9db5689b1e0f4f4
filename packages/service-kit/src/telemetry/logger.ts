import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  pino,
  stdTimeFunctions,
} from "pino";
import { gatheredLines } from "./gathered-lines.ts";
import { withoutCredentials, withoutSecrets } from "./without-secrets.ts";

export type { Logger } from "pino";

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

export function createLogger(
  options: { service: string; level: string },
  destination: DestinationStream = gatheredLines(1),
): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      hooks: { streamWrite: withoutCredentials },
      serializers: { err: describeError },
    },
    destination,
  );
  // What a child is bound to passes no formatter.
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the logger at hand as its `this`
  const child: (this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions) => Logger = logger.child;
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions): Logger {
      return child.call(this, withoutSecrets(bindings), childOptions);
    },
  });
}
