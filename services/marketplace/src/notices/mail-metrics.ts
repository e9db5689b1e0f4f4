import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { Counter, type Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countLateMails } from "./mail-store.ts";
import type { MailDeps } from "./run-due-mails.ts";

/** Of a worker that sends mails. No label names an audience. */
export function createMailMetrics(
  registry: Registry,
  database: Kysely<DB>,
  clock: () => Date,
): Pick<MailDeps, "onAttempt"> {
  const attempts = new Counter({
    name: "notice_mail_attempts_total",
    help: "Attempts to send a mail about notices, by result: sent, postponed, failed for good, or dropped because nobody wants it",
    labelNames: ["result"],
    registers: [registry],
  });
  registerGauge(registry, "notice_mails_late", "Mails about notices that should have been sent, up to 10,000", () =>
    countLateMails(database, clock()),
  );
  return { onAttempt: (result) => attempts.inc({ result }) };
}
