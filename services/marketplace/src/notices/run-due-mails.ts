import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type ConfirmationContext, composeConfirmation } from "./compose-confirmation.ts";
import { composeMail, type Mail, type MailContext } from "./compose-mail.ts";
import { leaseMs, nextAttempt, pauseMs, triedMs } from "./mail-schedule.ts";
import {
  type ClaimedMail,
  claimMail,
  findMailNotices,
  findRecipient,
  type MailOutcome,
  postponeMail,
  settleMail,
} from "./mail-store.ts";
import { findAudienceTitle } from "./notice-audience.ts";
import type { Mailer } from "./send-mail.ts";

export interface MailDeps extends MailContext, ConfirmationContext {
  database: Kysely<DB>;
  mailer: Mailer;
  clock: () => Date;
  logger: Logger;
  stopped: AbortSignal;
  /** Counts what became of an attempt. */
  onAttempt: (result: MailOutcome | "postponed") => void;
}

const maxConcurrent = 4;
const maxPerRun = 500;
/** A digest lists so many notices, and says whether there are more. */
const maxListed = 100;

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

/**
 * Sends the mails that are due: takes one, sends it, and settles it. A worker that dies between sending and settling leaves the mail to another one,
 * which sends it once more when the lease has ended. When the mail server fails, the run ends, and nothing is sent for some time.
 */
export function createMailSender(deps: MailDeps): () => Promise<void> {
  let failures = 0;
  let pausedUntil = new Date(0);
  return async () => {
    const { clock, logger, stopped } = deps;
    if (clock() < pausedUntil) return;
    let left = maxPerRun;
    let unavailable: string | undefined;
    const sendNext = async (): Promise<void> => {
      while (unavailable === undefined && left > 0 && !stopped.aborted) {
        left -= 1;
        const now = clock();
        const mail = await claimMail(deps.database, now, later(now, leaseMs));
        if (mail === undefined) return;
        const failed = await sendClaimed(deps, mail);
        if (failed === undefined) failures = 0;
        else unavailable = failed;
      }
    };
    await Promise.all(Array.from({ length: maxConcurrent }, sendNext));
    if (unavailable === undefined) return;
    failures += 1;
    pausedUntil = later(clock(), pauseMs(failures));
    logger.warn({ reason: unavailable, pausedUntil }, "the mail server can't be used; mails wait and are retried");
  };
}

/** Returns why the mail server can't be used, if it can't. */
async function sendClaimed(deps: MailDeps, mail: ClaimedMail): Promise<string | undefined> {
  const { database, clock, logger } = deps;
  const settle = async (outcome: MailOutcome): Promise<void> => {
    await settleMail(database, mail, outcome, clock());
    deps.onAttempt(outcome);
  };
  const facts = { mail: mail.id, audience: mail.audience, attempts: mail.attempts };
  if (mail.expires_at <= clock()) {
    logger.warn(facts, "gave up a mail that could not be sent in three days; its notices are in the list");
    await settle("failed");
    return undefined;
  }
  const composed = await compose(deps, mail);
  if (composed === undefined) {
    await settle("dropped");
    return undefined;
  }
  const result = await deps.mailer.send(composed);
  if (result.sent) {
    await settle("sent");
    return undefined;
  }
  const { failure, reason } = result;
  const next = nextAttempt(failure, { attempts: mail.attempts, expiresAt: mail.expires_at }, clock());
  if (next === null) {
    logger.warn({ ...facts, reason }, "gave up a mail that the mail server refused; its notices are in the list");
    await settle("failed");
  } else {
    await postponeMail(database, mail, next);
    deps.onAttempt("postponed");
  }
  return failure === "unavailable" ? reason : undefined;
}

/** Undefined if nobody wants it any more. Only a confirmation goes to an address that is not confirmed, and only while it is needed. */
async function compose(deps: MailDeps, mail: ClaimedMail): Promise<Mail | undefined> {
  const { database } = deps;
  const { id, audience, confirms } = mail;
  const recipient = await findRecipient(database, audience);
  if (recipient === undefined) return undefined;
  const { email: to, isConfirmed, muted } = recipient;
  if (confirms !== null) {
    if (confirms !== to || isConfirmed) return undefined;
    const name = await findAudienceTitle(database, audience);
    return composeConfirmation(deps, { id, audience, name, to, dueAt: later(mail.expires_at, -triedMs) });
  }
  if (!isConfirmed) return undefined;
  const { notices, hasMore } = await findMailNotices(database, mail, { muted, limit: maxListed });
  if (notices.length === 0) return undefined;
  return composeMail(deps, { id, audience, isDigest: mail.digest_at !== null, to, notices, hasMore });
}
