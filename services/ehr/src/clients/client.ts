import type { ClientAttempt, ClientStatus, ClientTask, RegistrationMethod } from "@ehr-marketplace/contracts";

/** An app's OAuth client at the EHR's authorization server. */
export interface ClientState {
  method: RegistrationMethod;
  status: ClientStatus;
  task: ClientTask | null;
  clientId: string | null;
  /** Whether a registration URI and token are stored, with which this service updates and removes the client. */
  isManaged: boolean;
  /** The metadata that the authorization server has; null: none, or other values than requested. */
  registeredSha256: string | null;
  attempt: ClientAttempt | null;
  /** Null with the attempt `remove`: its result is unknown, and it isn't in progress. */
  attemptedAt: Date | null;
  reason: string | null;
}

/** How the app signs in, as the marketplace says. `suspended`: it doesn't say for now. */
export type KnownMetadata =
  | { kind: "found"; sha256: string; clientId: string }
  | { kind: "absent" }
  /** This service accepts no such metadata, for example a redirect URI without a public host. */
  | { kind: "refused"; reason: string }
  | { kind: "suspended" };

export interface ClientFacts {
  /** Whether an organisation that the client is for has the app installed. */
  isNeeded: boolean;
  /** Whether organisations have the app installed and other clients for it, because CLIENT_REGISTRATION_PER has changed. */
  isReplaced: boolean;
  configured: RegistrationMethod;
  /** Known while the client is wanted. */
  metadata: KnownMetadata | undefined;
  /** Whether the app is launched by SMART, or has `system/` scopes: it needs a client. */
  signsIn: boolean;
  isSandbox: boolean;
  /** An operator doubts that the authorization server still has the client. */
  isToCheck: boolean;
  /** Whether this service registered the client, and would now register at another authorization server, or by another method. */
  isElsewhere: boolean;
  now: Date;
}

export type Step =
  /** Nothing to do, or nothing that this service can do. */
  | { kind: "none" }
  /** Another process sends a request. */
  | { kind: "wait" }
  /** The state changes without a request. */
  | { kind: "store"; next: ClientState }
  /** The authorization server has no client, and none is wanted. */
  | { kind: "delete" }
  /**
   * The state is stored, then the request is sent. `check` reads the client, and is recorded as an update, so that it stays usable.
   * `mayBeGone`: an earlier removal may have succeeded.
   */
  | { kind: "request"; attempt: ClientAttempt | "check"; next: ClientState; mayBeGone: boolean };

export const reasons = {
  notSaid: "The vendor has not said how the app signs in.",
  suspended: "The app is suspended in the marketplace.",
  notPublic: "A draft's client metadata is not public, so the authorization server can't read it.",
  toRegister: "An operator has to register the client.",
  toUpdate: "The app's client metadata has changed: an operator has to update the client.",
  toRemove: "No organisation has the app any more: an operator has to remove the client.",
  toWithdraw: "The vendor no longer says how the app signs in: an operator has to remove the client.",
  toReplace: "The EHR has other clients for the app now: an operator has to remove this one.",
  elsewhere: "The client was registered at another authorization server, or by another method, than is configured now.",
  interrupted: "The process was interrupted while it registered the client.",
  unavailable: "The authorization server can't register the client now. The EHR tries again.",
} as const;

/**
 * An attempt that was recorded longer ago than this isn't in progress: its process was killed, or lost the database. A request takes at most
 * 10 seconds, reading the client after an update of unknown result 10 more, and storing the result is retried for 10.
 */
export const attemptLeaseMs = 40_000;

export const newClient = (configured: RegistrationMethod): ClientState => ({
  method: configured,
  status: "pending",
  task: null,
  clientId: null,
  isManaged: false,
  registeredSha256: null,
  attempt: null,
  attemptedAt: null,
  reason: null,
});

/** Whether a process may be sending a request for the client. */
export const isInProgress = ({ status, attemptedAt }: ClientState, now: Date): boolean =>
  status !== "uncertain" && attemptedAt !== null && now.getTime() - attemptedAt.getTime() < attemptLeaseMs;

/** Decides what to do next for a client. Repeated until there is nothing to do. */
export function nextStep(client: ClientState, facts: ClientFacts): Step {
  if (client.status === "uncertain") return { kind: "none" };
  if (isInProgress(client, facts.now)) return { kind: "wait" };
  // Registering isn't idempotent: whether the killed process had registered a client isn't known.
  if (client.attempt === "register") return { kind: "store", next: toUncertain(client, reasons.interrupted) };
  if (client.attempt === "remove") return request(client, "remove", {}, facts, true);
  // An interrupted update can be repeated.
  const settled = { ...client, attempt: null, attemptedAt: null };
  // The authorization server registered something else than what was requested.
  if (settled.status === "failed" && settled.isManaged) return request(settled, "remove", {}, facts);
  if (!facts.isNeeded) return leave(settled, facts, null, facts.isReplaced ? reasons.toReplace : reasons.toRemove);
  const isToCheck = facts.isToCheck && settled.isManaged && settled.status === "ready";
  if (isToCheck && facts.isElsewhere) {
    const checked = { ...settled, attempt: "update", attemptedAt: facts.now } as const;
    return { kind: "store", next: toUncertain(checked, reasons.elsewhere) };
  }
  const step = keep(settled, client, facts);
  return isToCheck && step.kind === "none" ? request(settled, "check", {}, facts) : step;
}

export function toUncertain(client: ClientState, reason: string): ClientState {
  return { ...client, status: "uncertain", task: "check", reason };
}

/** One that was updated with other values than requested isn't usable until it is updated. */
export const registeredStatus = ({ registeredSha256 }: ClientState): ClientStatus =>
  registeredSha256 === null ? "pending" : "ready";

function leave(client: ClientState, facts: ClientFacts, reason: string | null, taskReason: string): Step {
  if (client.clientId === null || client.method === "cimd") return { kind: "delete" };
  if (client.isManaged) return request(client, "remove", { status: "removing", task: null, reason }, facts);
  return storeIfChanged(client, client, { status: "removing", task: "remove", reason: taskReason });
}

function keep(settled: ClientState, stored: ClientState, facts: ClientFacts): Step {
  const { metadata } = facts;
  // The app was installed again before the client was removed.
  const client: ClientState =
    settled.status === "removing" ? { ...settled, status: registeredStatus(settled), ...noTask } : settled;
  const isRegistered = client.clientId !== null && client.method !== "cimd";
  // The vendor has withdrawn it, in a revision that was reviewed. Once the client is removed, it has failed.
  if (metadata?.kind === "absent" && isRegistered && !facts.isSandbox) {
    return leave(settled, facts, reasons.notSaid, reasons.toWithdraw);
  }
  if (metadata?.kind === "refused") {
    // What is registered works on, with the earlier metadata.
    if (isRegistered) return storeIfChanged(stored, client, { reason: metadata.reason });
    const unregistered = { ...client, clientId: null, registeredSha256: null };
    return storeIfChanged(stored, unregistered, { status: "failed", task: null, reason: metadata.reason });
  }
  if (metadata?.kind !== "found") {
    if (isRegistered || (metadata?.kind !== "absent" && client.clientId !== null))
      return storeIfChanged(stored, client);
    if (metadata === undefined) return storeIfChanged(stored, client);
    if (metadata.kind === "suspended") {
      return storeIfChanged(stored, client, { status: "pending", task: null, reason: reasons.suspended });
    }
    if (!facts.signsIn) return { kind: "delete" };
    const unregistered = { ...client, clientId: null, registeredSha256: null };
    return storeIfChanged(stored, unregistered, { status: "failed", task: null, reason: reasons.notSaid });
  }
  // What is registered stays as it was registered; a document at the marketplace leaves nothing behind.
  const method = isRegistered ? client.method : facts.configured;
  return keepers[method]({ ...client, method }, stored, facts, metadata);
}

const noTask = { task: null, reason: null } as const;

type Keep = (
  client: ClientState,
  stored: ClientState,
  facts: ClientFacts,
  metadata: Extract<KnownMetadata, { kind: "found" }>,
) => Step;

const keepers: Record<RegistrationMethod, Keep> = {
  cimd(client, stored, { isSandbox }, { sha256, clientId }) {
    if (isSandbox) {
      const failed = {
        status: "failed",
        task: null,
        reason: reasons.notPublic,
        clientId: null,
        registeredSha256: null,
      } as const;
      return storeIfChanged(stored, client, failed);
    }
    return storeIfChanged(stored, client, { status: "ready", ...noTask, clientId, registeredSha256: sha256 });
  },
  dcr(client, stored, facts, { sha256 }) {
    if (!client.isManaged) {
      // A failed one stays failed until it is registered, so that each further attempt isn't reported.
      const status = client.status === "failed" ? "failed" : "pending";
      return request(client, "register", { status, task: null, clientId: null, registeredSha256: null }, facts);
    }
    if (client.registeredSha256 !== sha256) return request(client, "update", {}, facts);
    return storeIfChanged(stored, client, { status: "ready", ...noTask });
  },
  manual(client, stored, _facts, { sha256 }) {
    if (client.clientId === null || stored.method === "cimd") {
      const unregistered = { clientId: null, registeredSha256: null };
      return storeIfChanged(stored, client, {
        ...unregistered,
        status: "pending",
        task: "register",
        reason: reasons.toRegister,
      });
    }
    if (client.registeredSha256 === sha256) return storeIfChanged(stored, client, { status: "ready", ...noTask });
    return storeIfChanged(stored, client, { status: "ready", task: "update", reason: reasons.toUpdate });
  },
};

function request(
  client: ClientState,
  attempt: ClientAttempt | "check",
  changes: Partial<ClientState>,
  { now }: ClientFacts,
  mayBeGone = false,
): Step {
  const recorded = attempt === "check" ? "update" : attempt;
  return { kind: "request", attempt, next: { ...client, ...changes, attempt: recorded, attemptedAt: now }, mayBeGone };
}

function storeIfChanged(stored: ClientState, client: ClientState, changes: Partial<ClientState> = {}): Step {
  const next = { ...client, ...changes };
  return isSameState(stored, next) ? { kind: "none" } : { kind: "store", next };
}

function isSameState(one: ClientState, other: ClientState): boolean {
  const names = Object.keys(one) as (keyof ClientState)[];
  return names.every(
    (name) => String(one[name]) === String(other[name]) && (one[name] === null) === (other[name] === null),
  );
}
