interface LoggedError {
  message?: string;
  code?: string;
  cause?: LoggedError;
}

/** Formats a log line for the terminal. pino-pretty prints `err` below the line; here the error messages are on the line itself, for grep. */
export function logMessage(service: string, { msg, err }: { msg?: unknown; err?: unknown }): string {
  const parts = [`${service}: ${String(msg)}`];
  for (let error = err as LoggedError | undefined; error !== undefined; error = error.cause) {
    parts.push(error.message || error.code || "no message");
  }
  return parts.join(": ");
}
