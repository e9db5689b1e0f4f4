// Loads test files into this process, one suite each: loading the modules of a service takes longer than most tests.
import { after, afterEach, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { takeLogs } from "@ehr-marketplace/test-kit";

/** What has ended by then never keeps the process running; a server that a test forgot to stop does. */
const exitTimeoutMs = 30_000;

export function loadFiles(files: string[]): void {
  // A run that is stopped ends its processes: what they started is stopped on "exit".
  process.once("SIGTERM", () => process.exit(1));
  for (const file of files) {
    describe(file, async () => {
      afterEach((context) => {
        const logs = takeLogs();
        if ("passed" in context && !context.passed && logs !== "")
          console.error(`\nLogs of "${context.name}":\n${logs}`);
      });
      await import(pathToFileURL(file).href);
    });
  }
  after(() => {
    setTimeout(() => {
      console.error(`The process doesn't end. Still open: ${process.getActiveResourcesInfo().join(", ")}`);
      process.exit(1);
    }, exitTimeoutMs).unref();
  });
}
