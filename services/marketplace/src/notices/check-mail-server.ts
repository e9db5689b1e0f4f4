import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { CheckedMailer } from "./send-mail.ts";

/**
 * Connects to the mail server and signs in, without sending anything, so that operators learn of wrong settings before the first mail. It only
 * logs the result, and never throws.
 */
export async function checkMailServer(mailer: CheckedMailer, logger: Logger, stopped: AbortSignal): Promise<void> {
  const reason = await mailer.findProblem();
  if (stopped.aborted) return;
  if (reason === undefined) logger.info("the mail server accepts mails");
  else logger.warn({ reason }, "the mail server doesn't accept mails; they wait and are retried");
}
