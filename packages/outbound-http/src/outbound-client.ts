import { createSecureContext } from "node:tls";
import { ConnectionPools } from "./connection-pools.ts";
import { Exchange, type OutboundRequest } from "./exchange.ts";
import { Failure, type FailureReason, type Stage } from "./failure.ts";
import { createResolver, type Resolve } from "./resolver.ts";
import type { OutboundResponse } from "./response.ts";
import { parseTarget } from "./target.ts";

interface OutboundFailure {
  outcome: "failed";
  stage: Stage;
  reason: FailureReason;
  /** Of a response whose body failed or timed out; null if no headers were received. */
  statusCode: number | null;
}

export type OutboundResult = (OutboundResponse | OutboundFailure) & { durationMs: number };

interface OutboundClientOptions {
  /** By default, the system's name servers and hosts file. */
  resolve?: Resolve;
  /** The deadline of a request: name resolution, connection, request and response with its body. */
  timeoutMs?: number;
  maxBodyBytes?: number;
  /** How long an idle connection stays open. */
  idleMs?: number;
  /** A connection that is never idle is closed after this time, so that the receiver's name is resolved again. */
  maxAgeMs?: number;
  /** Over all receivers. */
  maxIdleConnections?: number;
  /** Certificates (PEM) to trust instead of the default ones. */
  trustedCertificates?: string;
}

export interface OutboundClient {
  /** Rejects only because of a bug, never because of what a receiver does. */
  request(request: OutboundRequest): Promise<OutboundResult>;
  /** Rejects new requests, and waits for those in progress: at most `timeoutMs`. */
  close(): Promise<void>;
}

/** Sends requests to receivers that may be hostile. */
export function createOutboundClient(options: OutboundClientOptions = {}): OutboundClient {
  const { timeoutMs = 10_000, maxBodyBytes = 65_536, idleMs = 4_000, maxAgeMs = 60_000 } = options;
  const resolver = options.resolve === undefined ? createResolver() : { resolve: options.resolve, close: () => {} };
  const pools = new ConnectionPools({
    resolve: resolver.resolve,
    secureContext: createSecureContext(
      options.trustedCertificates === undefined ? {} : { ca: options.trustedCertificates },
    ),
    idleMs,
    maxAgeMs,
    maxIdleConnections: options.maxIdleConnections ?? 1_000,
  });
  const inProgress = new Set<Promise<OutboundResult>>();
  let isClosed = false;

  async function send(request: OutboundRequest): Promise<OutboundResult> {
    const startedAt = performance.now();
    const durationMs = (): number => Math.round(performance.now() - startedAt);
    let exchange = new Exchange(request, { maxBodyBytes, needsNewConnection: false });
    const deadline = setTimeout(() => exchange.timeOut(), timeoutMs);
    const sendOnce = (): Promise<OutboundResponse> => pools.send(exchange, parseTarget(request.url));
    try {
      const response = await sendOnce().catch((error: unknown) => {
        // Receivers may close an idle connection at any time, also while a request is on its way.
        if (!exchange.isRetryable) throw error;
        exchange = new Exchange(request, { maxBodyBytes, needsNewConnection: true });
        return sendOnce();
      });
      return { ...response, durationMs: durationMs() };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { stage, statusCode } = exchange;
      return { outcome: "failed", stage, reason: error.reason, statusCode, durationMs: durationMs() };
    } finally {
      clearTimeout(deadline);
    }
  }

  return {
    request(request) {
      if (isClosed) return Promise.reject(new Error("the outbound client is closed"));
      const result = send(request);
      inProgress.add(result);
      const forget = (): boolean => inProgress.delete(result);
      result.then(forget, forget);
      return result;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(inProgress);
      await pools.destroy();
      resolver.close();
    },
  };
}
