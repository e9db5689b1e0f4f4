import { createSecureContext } from "node:tls";
import { admittedAddresses, type Resolve } from "./admitted-addresses.ts";
import { type Connection, createConnection } from "./connection.ts";
import { exchange } from "./exchange.ts";
import { Failure, type FailureReason } from "./failure.ts";
import { IdleConnections } from "./idle-connections.ts";
import { openSocket } from "./open-socket.ts";
import { createResolver } from "./resolver.ts";
import type { Answer, Course, Failed, Outgoing, Sent } from "./sent.ts";
import { readTarget, type Target } from "./target.ts";

interface SenderOptions {
  /** All addresses of a name; the system's name servers and hosts file, unless given. */
  resolve?: Resolve;
  /** For everything: name, connection, request and answer with its body. */
  timeoutMs?: number;
  maxBodyBytes?: number;
  /** How long a connection waits for its receiver's next request. */
  idleMs?: number;
  /** A connection that is never idle is given up after this, so that the receiver's name is looked up again. */
  maxAgeMs?: number;
  mostIdleConnections?: number;
  /** Certificates (PEM) to trust instead of the usual ones. */
  trustedCertificates?: string;
}

export interface Sender {
  /** Rejects only for a fault of ours, never for what a receiver does. */
  send(outgoing: Outgoing): Promise<Sent>;
  /** Takes no more, and waits for what is under way: at most `timeoutMs`. */
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
  const idle = new IdleConnections({ most: options.mostIdleConnections ?? 1_000, maxAgeMs });
  const resolver = options.resolve === undefined ? createResolver() : { resolve: options.resolve, close: () => {} };
  const trust = createSecureContext(
    options.trustedCertificates === undefined ? {} : { ca: options.trustedCertificates },
  );
  const underWay = new Set<Promise<Sent>>();
  let closed = false;

  async function connect(
    target: Target,
    networks: readonly string[],
    key: string,
    course: Course,
  ): Promise<Connection> {
    const addresses = await admittedAddresses(target, networks, resolver.resolve, course);
    if (course.over) throw new Failure("timed-out");
    return createConnection(await openSocket(target, addresses, trust, course), target.origin, key, idleMs);
  }

  async function sendOver(connection: Connection, path: string, outgoing: Outgoing, course: Course): Promise<Answer> {
    const answer = await exchange(connection, path, outgoing, maxBodyBytes, course);
    idle.keep(connection);
    return answer;
  }

  async function attempt(outgoing: Outgoing, course: Course): Promise<Answer> {
    const target = readTarget(outgoing.url);
    const key = `${target.origin} ${outgoing.allowedNetworks.join()}`;
    const kept = idle.take(key);
    if (kept !== undefined) {
      const heardBefore = kept.socket.bytesRead;
      try {
        return await sendOver(kept, target.path, outgoing, course);
      } catch (error) {
        // Receivers close idle connections when they like, also while a request is on its way: no failure of theirs.
        if (course.over || !isLostConnection(error) || kept.socket.bytesRead > heardBefore) throw error;
      }
    }
    return sendOver(await connect(target, outgoing.allowedNetworks, key, course), target.path, outgoing, course);
  }

  function timed(outgoing: Outgoing): Promise<Sent> {
    const startedAt = performance.now();
    const course: Course = { stage: "address", over: false, halt: () => {} };
    return new Promise((resolve, reject) => {
      const end = (result: Answer | Failed): void => {
        course.over = true;
        clearTimeout(deadline);
        resolve({ ...result, durationMs: Math.round(performance.now() - startedAt) });
      };
      const fail = (reason: FailureReason): void => end({ outcome: "failed", stage: course.stage, reason });
      const deadline = setTimeout(() => {
        course.halt();
        fail("timed-out");
      }, timeoutMs);
      attempt(outgoing, course).then(end, (error: unknown) => {
        if (error instanceof Failure) return fail(error.reason);
        clearTimeout(deadline);
        reject(error);
      });
    });
  }

  return {
    send(outgoing) {
      if (closed) return Promise.reject(new Error("the sender is closed"));
      const sent = timed(outgoing);
      underWay.add(sent);
      const forget = (): boolean => underWay.delete(sent);
      sent.then(forget, forget);
      return sent;
    },
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
      idle.dropAll();
      resolver.close();
    },
  };
}
