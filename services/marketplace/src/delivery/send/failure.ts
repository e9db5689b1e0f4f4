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

/** Stable: they are stored with each attempt, and vendors search for them. */
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

/** Why a request got no response. Any other error is internal. */
export class Failure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

const isKnown = (code: string): code is keyof typeof reasonsByCode => Object.hasOwn(reasonsByCode, code);

/** The reason for an error of a socket, TLS or the HTTP parser; undefined for unknown ones. */
function foreseenReason(error: NodeJS.ErrnoException): FailureReason | undefined {
  const code = error.code ?? "";
  if (isKnown(code)) return reasonsByCode[code];
  if (error instanceof errors.HTTPParserError) return "response-invalid";
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return "tls-failed";
  // Undici has one code for a peer that goes away and for one that speaks out of turn.
  if (code === "UND_ERR_SOCKET") return error.message.startsWith("bad ") ? "response-invalid" : "connection-closed";
  return code.startsWith("UND_ERR_") ? "connection-closed" : undefined;
}

/** The failure that an error of the connection or of the exchange stands for. */
export function failureFrom(error: NodeJS.ErrnoException, otherwise: FailureReason): Failure {
  return error instanceof Failure ? error : new Failure(foreseenReason(error) ?? otherwise, { cause: error });
}

/** Resolvers use socket codes too: ECONNREFUSED then comes from the name server, not the receiver. */
export function dnsFailureFrom(error: NodeJS.ErrnoException): Failure {
  const reason = foreseenReason(error);
  return new Failure(reason?.startsWith("dns-") === true ? reason : "dns-failed", { cause: error });
}
