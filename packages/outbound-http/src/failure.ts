import { errors } from "undici";

const reasonsByCode = {
  ENOTFOUND: "dns-not-found",
  ENODATA: "dns-not-found",
  EBADNAME: "dns-not-found",
  ETIMEOUT: "dns-timed-out",
  ECANCELLED: "dns-failed",
  ECONNREFUSED: "connection-refused",
  ECONNRESET: "connection-reset",
  ECONNABORTED: "connection-reset",
  EPIPE: "connection-reset",
  ETIMEDOUT: "timed-out",
  EHOSTUNREACH: "unreachable",
  EHOSTDOWN: "unreachable",
  ENETUNREACH: "unreachable",
  ENETDOWN: "unreachable",
  EACCES: "unreachable",
  EPERM: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  EMFILE: "sender-exhausted",
  ENFILE: "sender-exhausted",
  ENOBUFS: "sender-exhausted",
  ENOMEM: "sender-exhausted",
  CERT_HAS_EXPIRED: "certificate-expired",
  CERT_NOT_YET_VALID: "certificate-not-yet-valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate-wrong-name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate-not-trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate-not-trusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificate-not-trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate-not-trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate-not-trusted",
  CERT_UNTRUSTED: "certificate-not-trusted",
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "http-1-not-spoken",
  UND_ERR_HEADERS_OVERFLOW: "headers-too-large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "response-invalid",
  UND_ERR_INVALID_ARG: "request-invalid",
  UND_ERR_NOT_SUPPORTED: "request-invalid",
} as const;

/** How far a request came. Stored with each delivery attempt, like the reason: neither may be renamed. */
export type Stage = "address" | "resolve" | "connect" | "tls" | "send" | "headers" | "body";

/** Stored with each delivery attempt, and searched for: none may be renamed. */
export type FailureReason =
  | (typeof reasonsByCode)[keyof typeof reasonsByCode]
  | "url-invalid"
  | "address-not-allowed"
  | "plain-http-not-allowed"
  | "dns-failed"
  | "connection-closed"
  | "certificate-not-valid"
  | "tls-failed"
  | "too-many-informational-answers"
  | "response-invalid";

/** Why a request got no response. Any other error is a bug. */
export class Failure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

const isKnown = (code: string): code is keyof typeof reasonsByCode => Object.hasOwn(reasonsByCode, code);

/** Maps an error of the socket, TLS or the HTTP parser; undefined if its code is unknown. */
function findReason(error: NodeJS.ErrnoException): FailureReason | undefined {
  const code = error.code ?? "";
  if (isKnown(code)) return reasonsByCode[code];
  if (error instanceof errors.HTTPParserError) return "response-invalid";
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return "tls-failed";
  // Undici uses one code both for a closed connection and for a response that nothing was requested for.
  if (code === "UND_ERR_SOCKET") return error.message.startsWith("bad ") ? "response-invalid" : "connection-closed";
  return code.startsWith("UND_ERR_") ? "connection-closed" : undefined;
}

export function failureFrom(error: NodeJS.ErrnoException, fallback: FailureReason): Failure {
  return error instanceof Failure ? error : new Failure(findReason(error) ?? fallback, { cause: error });
}

/** Whether an error comes from our code, and not from a socket, TLS, the HTTP parser or undici. */
export function isBug(error: NodeJS.ErrnoException): boolean {
  return !(error instanceof Failure) && error.code === undefined && findReason(error) === undefined;
}

/** Resolvers share codes with sockets: their ECONNREFUSED is the name server's, not the receiver's. */
export function dnsFailureFrom(error: NodeJS.ErrnoException): Failure {
  const reason = findReason(error);
  return new Failure(reason?.startsWith("dns-") === true ? reason : "dns-failed", { cause: error });
}
