import type { AddressInfo } from "node:net";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { SMTPServer } from "smtp-server";
import { confirmationPurpose } from "./confirmation-token.ts";
import { type CheckedMailer, createMailer } from "./send-mail.ts";
import { unsubscribePurpose } from "./unsubscribe-token.ts";

const keys = parseEncryptionKeys(developmentEncryptionKeys);
export const unsubscribeDigest = createKeyedDigest(keys, unsubscribePurpose);
export const confirmationDigest = createKeyedDigest(keys, confirmationPurpose);

export interface ReceivedMail {
  to: string[];
  /** Header lines, unfolded. */
  headers: string[];
  text: string;
}

/** A mail server that keeps what it gets. */
export interface MailServer {
  port: number;
  received: ReceivedMail[];
  /** The answer to the next recipients: a status from 400, or none to accept them. */
  refuseWith: number | undefined;
  stop: () => Promise<void>;
}

const decodeQuotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replace(/=\r\n/g, "")
      .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString();

function parseMail(raw: string, to: string[]): ReceivedMail {
  const end = raw.indexOf("\r\n\r\n");
  const headers = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const encoding = headers.find((line) => /^content-transfer-encoding:/i.test(line)) ?? "";
  const body = raw.slice(end + 4);
  const text = encoding.includes("quoted-printable")
    ? decodeQuotedPrintable(body)
    : encoding.includes("base64")
      ? Buffer.from(body, "base64").toString()
      : body;
  return { to, headers, text: text.replaceAll("\r\n", "\n") };
}

export async function startMailServer(cleanUp: CleanUp, port = 0): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onRcptTo(_address, _session, done) {
      const status = running.refuseWith;
      done(status === undefined ? null : Object.assign(new Error("refused"), { responseCode: status }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        received.push(parseMail(Buffer.concat(chunks).toString(), to));
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  let isStopped = false;
  const running: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    received,
    refuseWith: undefined,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  cleanUp(() => running.stop());
  return running;
}

export const mailerTo = (port: number): CheckedMailer =>
  createMailer({
    host: "127.0.0.1",
    port,
    secure: false,
    requiresTls: false,
    auth: undefined,
    from: "EHR Marketplace <notices@marketplace.example>",
  });

const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_match, encoding: string, word: string) =>
      encoding.toLowerCase() === "b"
        ? Buffer.from(word, "base64").toString()
        : decodeQuotedPrintable(word.replaceAll("_", " ")),
    );

/** The value of a header. */
export function headerOf(mail: ReceivedMail | undefined, name: string): string | undefined {
  const line = mail?.headers.find((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line === undefined ? undefined : decodeWords(line.slice(name.length + 1).trim());
}
