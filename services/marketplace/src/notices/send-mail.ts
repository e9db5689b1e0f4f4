import { createTransport } from "nodemailer";
import type { Mail } from "./compose-mail.ts";
import { classifyFailure, type SendFailure } from "./mail-schedule.ts";

export interface SmtpConfig {
  host: string;
  port: number;
  /** TLS from the start, not by STARTTLS. */
  secure: boolean;
  /** Whether a server without STARTTLS is refused. */
  requiresTls: boolean;
  auth: { user: string; pass: string } | undefined;
  from: string;
}

export type SendResult = { sent: true } | { sent: false; failure: SendFailure; reason: string };

export interface Mailer {
  send: (mail: Mail) => Promise<SendResult>;
}

export interface CheckedMailer extends Mailer {
  /** Why the server can't be used, after connecting and signing in; undefined if it can be. */
  findProblem: () => Promise<string | undefined>;
}

/** Of each step of a connection. */
const stepMs = 10_000;
/** Of all of them. Less than the lease of a mail. */
const sendMs = 60_000;
/** Of a check. */
const checkMs = 30_000;

interface SendError {
  code?: string;
  responseCode?: number;
  command?: string;
}

/** Without the server's words, which may contain the address. */
const describe = ({ code = "error", responseCode, command }: SendError): string =>
  [code, command, responseCode].filter((part) => part !== undefined).join(" ");

/** Rejects when the work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timeout = setTimeout(() => reject(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timeout);
  }
}

/** Sends each mail over a connection of its own, so that nothing is sent twice because a shared connection broke. */
export function createMailer({ from, auth, requiresTls, ...server }: SmtpConfig): CheckedMailer {
  const transport = createTransport({
    ...server,
    requireTLS: requiresTls,
    ...(auth === undefined ? {} : { auth }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, ...mail }) {
      try {
        await within(sendMs, transport.sendMail({ ...mail, from, to: { name: "", address: to } }));
        return { sent: true };
      } catch (error) {
        const failed = error as SendError;
        return { sent: false, failure: classifyFailure(failed), reason: describe(failed) };
      }
    },
    async findProblem() {
      try {
        await within(checkMs, transport.verify());
        return undefined;
      } catch (error) {
        return describe(error as SendError);
      }
    },
  };
}
