import { type ClientState, reasons, toUncertain } from "./client.ts";

/** Where and with which token the client is read, updated and removed (RFC 7592). */
export interface Management {
  uri: string;
  token: string;
}

/** Why a request had no effect. */
export interface Failure {
  reason: string;
  /** The server's words, for the log. */
  description?: string;
}

/** The result of a request to the authorization server. Reasons may be shown to operators; those of `refused` also to the vendor. */
export type RegistrationResult =
  /** `management` is undefined if the authorization server doesn't offer it: then operators update and remove the client. */
  | { kind: "registered"; clientId: string; management: Management | undefined }
  /** Registered, with other values than those requested. */
  | { kind: "differs"; clientId: string; management: Management | undefined; reason: string }
  | FailedRequest;
export type UpdateResult =
  | { kind: "updated"; management: Management | undefined }
  /** Updated, with other values than those requested. `isSafe`: only scopes differ. */
  | { kind: "differs"; management: Management | undefined; reason: string; isSafe: boolean }
  | (Failure & { kind: "denied" })
  | Refused
  /** `management`: reading the client replaced the token. */
  | (Unknown & { management?: Management | undefined });
export type CheckResult =
  /** `management`: reading the client may have replaced the token. */
  { kind: "found"; management: Management | undefined } | { kind: "denied"; reason: string } | FailedRequest;
export type RemovalResult =
  | { kind: "removed" }
  /** The client doesn't exist, or the token is invalid: RFC 7592 has one response for both. If not `isOfServer`, a proxy may have responded. */
  | (Failure & { kind: "denied"; isOfServer: boolean })
  | FailedRequest;

/** The authorization server certainly did nothing. `isFinal`: the same request gets the same response. */
interface Refused extends Failure {
  kind: "refused";
  isFinal: boolean;
}
/** It isn't known whether it did. */
interface Unknown extends Failure {
  kind: "unknown";
}
export type FailedRequest = Refused | Unknown;

export interface Settled {
  /** Undefined: the client is gone, and so is its row. */
  next: ClientState | undefined;
  /** Replaces the stored management; undefined: it stays. */
  management?: Management | undefined;
  /** Whether to try again soon, at growing intervals; otherwise within an hour, or after an operator has acted. */
  retriesSoon: boolean;
}

const noAttempt = { attempt: null, attemptedAt: null } as const;
const unregistered = { clientId: null, isManaged: false, registeredSha256: null } as const;

export function afterRegistration(client: ClientState, result: RegistrationResult, sha256: string): Settled {
  switch (result.kind) {
    case "registered": {
      const { clientId, management } = result;
      const isManaged = management !== undefined;
      const registered = { clientId, isManaged, registeredSha256: sha256, ...noAttempt, task: null, reason: null };
      const method = isManaged ? "dcr" : "manual";
      return { next: { ...client, ...registered, method, status: "ready" }, management, retriesSoon: false };
    }
    case "differs": {
      const { clientId, management, reason } = result;
      // Without a way to remove it, an operator has to.
      if (management === undefined) return settle(toUncertain(client, `${reason} Its client_id is ${clientId}.`));
      const failed = { ...client, clientId, isManaged: true, registeredSha256: null, ...noAttempt } as const;
      return { next: { ...failed, status: "failed", task: null, reason }, management, retriesSoon: false };
    }
    case "refused": {
      const { isFinal } = result;
      // The reason of a failure that passes by itself is in the log: each other reason is reported to every organisation's vendor.
      const failure = isFinal
        ? ({ status: "failed", reason: result.reason } as const)
        : ({ status: "pending", reason: reasons.unavailable } as const);
      return { next: { ...client, ...unregistered, ...noAttempt, task: null, ...failure }, retriesSoon: !isFinal };
    }
    case "unknown":
      return settle(toUncertain(client, result.reason));
  }
}

/** The client works with its earlier metadata until it is updated, so it stays as it is: ready, unless an earlier update had other values. */
export function afterUpdate(client: ClientState, result: UpdateResult, sha256: string): Settled {
  const earlier = { ...client, ...noAttempt, task: null } as const;
  switch (result.kind) {
    case "updated": {
      const next = { ...earlier, status: "ready", registeredSha256: sha256, reason: null } as const;
      return { next, management: result.management, retriesSoon: false };
    }
    case "differs": {
      const { isSafe, management } = result;
      const next = toUncertain(isSafe ? client : { ...client, registeredSha256: null }, result.reason);
      return { next, management, retriesSoon: false };
    }
    case "denied":
      return settle(toUncertain(client, result.reason));
    case "refused":
      return { next: result.isFinal ? { ...earlier, reason: result.reason } : earlier, retriesSoon: !result.isFinal };
    case "unknown":
      return { next: earlier, management: result.management, retriesSoon: true };
  }
}

/** Only a client that the authorization server doesn't have, or denies, is an operator's. */
export function afterCheck(client: ClientState, result: CheckResult): Settled {
  const next = { ...client, ...noAttempt };
  switch (result.kind) {
    case "found":
      return { next, management: result.management, retriesSoon: false };
    case "denied":
      return settle(toUncertain(client, result.reason));
    case "refused":
      return { next, retriesSoon: !result.isFinal };
    case "unknown":
      return { next, retriesSoon: true };
  }
}

/** `mayBeGone`: an earlier removal may have succeeded. */
export function afterRemoval(client: ClientState, result: RemovalResult, mayBeGone: boolean): Settled {
  switch (result.kind) {
    case "removed":
      return removed(client);
    case "denied":
      if (!mayBeGone) return settle(toUncertain(client, result.reason));
      return result.isOfServer ? removed(client) : repeatRemoval(client);
    case "refused":
      if (result.isFinal) return settle(toUncertain(client, result.reason));
      return { next: { ...client, attempt: mayBeGone ? "remove" : null, attemptedAt: null }, retriesSoon: true };
    case "unknown":
      return repeatRemoval(client);
  }
}

const repeatRemoval = (client: ClientState): Settled => ({
  next: { ...client, attempt: "remove", attemptedAt: null },
  retriesSoon: true,
});

/** A client that differs from what was requested is removed, and its failure stays visible. */
const removed = (client: ClientState): Settled =>
  settle(client.status === "failed" ? { ...client, ...unregistered, ...noAttempt } : undefined);

const settle = (next: ClientState | undefined): Settled => ({ next, retriesSoon: false });
