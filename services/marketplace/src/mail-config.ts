import { type CleanedEnv, findHttpsError, str, url, type VariableErrors } from "@ehr-marketplace/service-kit/config";
import type { SmtpConfig } from "./notices/send-mail.ts";

/** Environment variables of the mails about notices. */
export const mailEnvironment = {
  SMTP_URL: str({
    desc: "Mail server for notices, smtp:// or smtps://; unset means that nothing is mailed",
    example: "smtps://marketplace:secret@mail.internal:465",
    default: "",
  }),
  MAIL_FROM: str({
    desc: "Sender of these mails. Required with SMTP_URL",
    example: "EHR Marketplace <notices@example.com>",
    default: "",
  }),
  PUBLIC_URL: url({
    desc: "Where clients reach the API, for the links in these mails. Required with SMTP_URL",
    example: "https://marketplace.example.com",
    default: "",
  }),
  WEB_URL: url({
    desc: "Where browsers reach the web, for the links to its pages in these mails; unset if it doesn't run",
    example: "https://apps.example.com",
    default: "",
  }),
};

type Read = Pick<CleanedEnv<typeof mailEnvironment>, keyof typeof mailEnvironment>;

const senderPattern = /^([^\s<>@,;"]+@[\w.-]+|[^<>@,;"\p{C}]+ <[^\s<>@,;"]+@[\w.-]+>)$/u;

interface MailServer {
  url: URL;
  user: string;
  password: string;
}

/** Undefined if it is not the URL of a mail server, or if its user or password isn't percent-encoded correctly. */
function parseServer(given: string): MailServer | undefined {
  const parsed = URL.parse(given);
  if (parsed === null || !/^smtps?:$/.test(parsed.protocol) || parsed.hostname === "") return undefined;
  try {
    return { url: parsed, user: decodeURIComponent(parsed.username), password: decodeURIComponent(parsed.password) };
  } catch {
    return undefined;
  }
}

const isOrigin = (given: string): boolean => given.replace(/\/$/, "") === URL.parse(given)?.origin;

function findWebUrlError(webUrl: string, isLocal: boolean): string | undefined {
  if (webUrl === "") return undefined;
  if (!isOrigin(webUrl)) return "has more than scheme, host and port, or not all of them";
  return isLocal ? undefined : findHttpsError(webUrl, "mails contain links to it");
}

const findUrlError = (publicUrl: string, isLocal: boolean): string | undefined => {
  if (publicUrl === "") return "is required with SMTP_URL, because mails contain links to it";
  return isLocal ? undefined : findHttpsError(publicUrl, "mails contain links to it");
};

/** Settings that are valid by themselves, but not together. */
export function findMailErrors({
  NODE_ENV,
  SMTP_URL = "",
  MAIL_FROM = "",
  PUBLIC_URL = "",
  WEB_URL = "",
}: Partial<Read & { NODE_ENV: string }>): VariableErrors {
  if (SMTP_URL === "") return {};
  const isLocal = NODE_ENV === "development" || NODE_ENV === "test";
  return {
    SMTP_URL:
      parseServer(SMTP_URL) === undefined
        ? "must be a URL such as smtps://user:secret@mail.internal, with special characters percent-encoded (% as %25)"
        : undefined,
    MAIL_FROM: senderPattern.test(MAIL_FROM)
      ? undefined
      : "must be one address, with or without a name, such as EHR Marketplace <notices@example.com>; required with SMTP_URL",
    PUBLIC_URL: findUrlError(PUBLIC_URL, isLocal),
    WEB_URL: findWebUrlError(WEB_URL, isLocal),
  };
}

export type MailConfig = SmtpConfig & { publicUrl: string; webUrl: string | undefined };

const isLoopback = (host: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);

/** Undefined: nothing is mailed. */
export function mailConfig(read: Read): MailConfig | undefined {
  const server = parseServer(read.SMTP_URL);
  if (server === undefined) return undefined;
  const { url: address, user, password } = server;
  const { hostname, port } = address;
  const secure = address.protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    // Otherwise whoever is between the two could remove STARTTLS, and read the password.
    requiresTls: !secure && !isLoopback(hostname),
    auth: user === "" ? undefined : { user, pass: password },
    from: read.MAIL_FROM,
    publicUrl: read.PUBLIC_URL.replace(/\/$/, ""),
    webUrl: read.WEB_URL === "" ? undefined : read.WEB_URL.replace(/\/$/, ""),
  };
}
