import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import type { ResolvedAddress } from "./admitted-addresses.ts";
import { Failure, type FailureReason, failureFrom } from "./failure.ts";
import type { RequestProgress } from "./send-result.ts";
import type { Target } from "./target.ts";

/** Returns the checked addresses without resolving the name once more: a second result could differ. */
const checkedOnly =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(null, [...addresses]);

function open(target: Target, addresses: readonly ResolvedAddress[], trust: SecureContext): Socket | TLSSocket {
  const where = {
    host: target.hostname,
    port: target.port,
    lookup: checkedOnly(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    noDelay: true,
  };
  if (!target.secure) return connectTcp(where);
  return connectTls({
    ...where,
    secureContext: trust,
    ...(isIP(target.hostname) === 0 ? { servername: target.hostname } : {}),
    ALPNProtocols: ["http/1.1"],
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could disable it for the whole process.
    rejectUnauthorized: true,
  });
}

/** Connects to the first address that accepts; with TLS, verifies the certificate for the target's name. */
export function openSocket(
  target: Target,
  addresses: readonly ResolvedAddress[],
  trust: SecureContext,
  progress: RequestProgress,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    progress.stage = "connect";
    const socket = open(target, addresses, trust);
    progress.abort = () => socket.destroy();
    const unforeseen = (): FailureReason => {
      if (progress.stage === "connect") return "unreachable";
      return "authorizationError" in socket && socket.authorizationError ? "certificate-not-valid" : "tls-failed";
    };
    const onError = (error: Error): void => reject(failureFrom(error, unforeseen()));
    const onClose = (): void => reject(new Failure("connection-closed"));
    socket.once("error", onError).once("close", onClose);
    socket.once("connect", () => {
      progress.stage = target.secure ? "tls" : "send";
    });
    socket.once(target.secure ? "secureConnect" : "connect", () => {
      socket.off("error", onError).off("close", onClose);
      // No later error of this socket may be anyone's uncaught exception.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}
