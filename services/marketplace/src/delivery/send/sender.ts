import { createSecureContext } from "node:tls";
import { admittedAddresses, type Resolve } from "./admitted-addresses.ts";
import { type Connection, createConnection } from "./connection.ts";
import { exchange } from "./exchange.ts";
import { Failure, type FailureReason } from "./failure.ts";
import { IdleConnections } from "./idle-connections.ts";
import { openSocket } from "./open-socket.ts";
import { createResolver } from "./resolver.ts";
import type { OutgoingRequest, ReceivedResponse, RequestProgress, SendFailure, SendResult } from "./send-result.ts";
import { readTarget, type Target } from "./target.ts";

interface SenderOptions {
  /** All addresses of a name; the system's name servers and hosts file, unless given. */
  resolve?: Resolve;
  /** For name resolution, connection, request and the response with its body. */
  timeoutMs?: number;
  maxBodyBytes?: number;
  /** How long an idle connection is kept. */
  idleMs?: number;
  /** A busy connection is closed after this, so that the receiver's name is resolved again. */
  maxAgeMs?: number;
  maxIdleConnections?: number;
  /** Certificates (PEM) to trust instead of the default ones. */
  trustedCertificates?: string;
}

export interface Sender {
  /** Rejects only on an internal error, never because of a receiver. */
  send(outgoing: OutgoingRequest): Promise<SendResult>;
  /** Rejects new requests and waits for those in flight, at most `timeoutMs`. */
  close(): Promise<void>;
}

const isLostConnection = (error: unknown): boolean =>
  error instanceof Failure && ["connection-closed", "connection-reset"].includes(error.reason);

/**
 * Sends requests to receivers that may be hostile. Addresses are checked when a connection is made, and the connection
 * goes to what was checked. A connection is used again only for the same origin under the same rules, within seconds;
 * looking the name up for every request would not make that safer, as the bytes go where the check has been made.
 */
export function createSender(options: SenderOptions = {}): Sender {
  const { timeoutMs = 10_000, maxBodyBytes = 65_536, idleMs = 4_000, maxAgeMs = 60_000 } = options;
  const idle = new IdleConnections({ maxConnections: options.maxIdleConnections ?? 1_000, maxAgeMs });
  const resolver = options.resolve === undefined ? createResolver() : { resolve: options.resolve, close: () => {} };
  const secureContext = createSecureContext(
    options.trustedCertificates === undefined ? {} : { ca: options.trustedCertificates },
  );
  const inFlight = new Set<Promise<SendResult>>();
  let closed = false;

  async function connect(
    target: Target,
    networks: readonly string[],
    key: string,
    progress: RequestProgress,
  ): Promise<Connection> {
    const addresses = await admittedAddresses(target, networks, resolver.resolve, progress);
    if (progress.isDone) throw new Failure("timed-out");
    return createConnection(await openSocket(target, addresses, secureContext, progress), target.origin, key, idleMs);
  }

  async function sendOver(
    connection: Connection,
    path: string,
    outgoing: OutgoingRequest,
    progress: RequestProgress,
  ): Promise<ReceivedResponse> {
    const response = await exchange(connection, path, outgoing, maxBodyBytes, progress);
    idle.keep(connection);
    return response;
  }

  async function attempt(outgoing: OutgoingRequest, progress: RequestProgress): Promise<ReceivedResponse> {
    const target = readTarget(outgoing.url);
    const key = `${target.origin} ${outgoing.allowedNetworks.join()}`;
    const kept = idle.take(key);
    if (kept !== undefined) {
      const heardBefore = kept.socket.bytesRead;
      try {
        return await sendOver(kept, target.path, outgoing, progress);
      } catch (error) {
        // A receiver may close an idle connection at any time, also while a request is being sent: retry on a new one.
        if (progress.isDone || !isLostConnection(error) || kept.socket.bytesRead > heardBefore) throw error;
      }
    }
    return sendOver(await connect(target, outgoing.allowedNetworks, key, progress), target.path, outgoing, progress);
  }

  function sendWithDeadline(outgoing: OutgoingRequest): Promise<SendResult> {
    const startedAt = performance.now();
    const progress: RequestProgress = { stage: "address", isDone: false, abort: () => {} };
    return new Promise((resolve, reject) => {
      const end = (result: ReceivedResponse | SendFailure): void => {
        progress.isDone = true;
        clearTimeout(deadline);
        resolve({ ...result, durationMs: Math.round(performance.now() - startedAt) });
      };
      const fail = (reason: FailureReason): void => end({ outcome: "failed", stage: progress.stage, reason });
      const deadline = setTimeout(() => {
        progress.abort();
        fail("timed-out");
      }, timeoutMs);
      attempt(outgoing, progress).then(end, (error: unknown) => {
        if (error instanceof Failure) return fail(error.reason);
        clearTimeout(deadline);
        reject(error);
      });
    });
  }

  return {
    send(outgoing) {
      if (closed) return Promise.reject(new Error("the sender is closed"));
      const sent = sendWithDeadline(outgoing);
      inFlight.add(sent);
      const forget = (): boolean => inFlight.delete(sent);
      sent.then(forget, forget);
      return sent;
    },
    async close() {
      closed = true;
      await Promise.allSettled(inFlight);
      idle.dropAll();
      resolver.close();
    },
  };
}
