import { Readable } from "node:stream";
import { spec } from "node:test/reporters";

interface Event {
  type: string;
  data: unknown;
}

interface Failure {
  details: { error: Error & { failureType?: string } };
}

/** A test that hasn't run, because the hook, the time limit or the code of its suite failed. The suite's own failure has the reason. */
export const isCancelled = ({ details: { error } }: Failure): boolean =>
  error.failureType === "cancelledByParent" && String(error.cause).startsWith("test did not finish before its parent");

/** node:test reports cancelled tests as failed, each without a reason. Reported as skipped, they don't hide the reason. */
async function* withCancelledAsSkipped(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    const isSkipped = event.type === "test:fail" && isCancelled(event.data as Failure);
    yield isSkipped ? { type: "test:pass", data: { ...(event.data as Failure), skip: "not run" } } : event;
  }
}

/** The text of node:test's reporter for people. */
export const reportText = (events: AsyncIterable<Event>): Readable =>
  Readable.from(withCancelledAsSkipped(events)).compose(spec).setEncoding("utf8") as Readable;
