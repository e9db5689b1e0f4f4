interface LoggedError {
  message?: string;
  code?: string;
  cause?: LoggedError;
}

/** The message of a log line in the terminal. pino-pretty prints `err` below it; here its messages are on the line that a search finds. */
export function logMessage(service: string, { msg, err }: { msg?: unknown; err?: unknown }): string {
  const parts = [`${service}: ${String(msg)}`];
  for (let error = err as LoggedError | undefined; error !== undefined; error = error.cause) {
    parts.push(error.message || error.code || "no message");
  }
  return parts.join(": ");
}
