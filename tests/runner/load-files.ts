// Loads test files into this process, one suite each: loading the modules of a service takes longer than most tests.
import { after, afterEach, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { takeLogs } from "@ehr-marketplace/test-kit";
import { endWhenBlocked } from "./end-when-blocked.ts";

/** What has ended by then never keeps the process running; a server that a test forgot to stop does. */
const exitTimeoutMs = 30_000;

/** With all rounds, some files run for long. Their tests have limits of their own. */
const fileTimeoutMs = 7_200_000;

export function loadFiles(files: string[]): void {
  // A run that is stopped ends its processes: what they started is stopped on "exit".
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  endWhenBlocked();
  for (const file of files) {
    describe(file, { timeout: fileTimeoutMs }, async () => {
      let hasRun = false;
      const printLogs = (of: string): void => {
        const logs = takeLogs();
        if (logs !== "") console.error(`\nLogs of ${of} in ${file}:\n${logs}`);
      };
      afterEach((context) => {
        hasRun = true;
        if ("passed" in context && !context.passed) printLogs(`"${context.name}"`);
        else takeLogs();
      });
      after(() => {
        if (hasRun) return;
        // Of hooks that have failed before the first test.
        printLogs("the preparation");
        throw new Error("No test of the file has run.");
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
