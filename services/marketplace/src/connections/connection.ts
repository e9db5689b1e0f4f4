import type { ConnectionState, PutConnectionBody } from "@ehr-marketplace/contracts";

/** What the connection of a subscription is before its EHR has reported. */
export const unreported: ConnectionState = { status: "pending", clientId: null, fhirBaseUrl: null, reason: null };

/** A report as it is stored. A blank reason says nothing. */
export function toState({ status, clientId = null, fhirBaseUrl = null, reason }: PutConnectionBody): ConnectionState {
  return { status, clientId, fhirBaseUrl, reason: (reason ?? "").trim() === "" ? null : (reason ?? null) };
}

export interface InvalidField {
  field: "clientId" | "fhirBaseUrl" | "reason";
  detail: string;
}

/** What a schema can't say. Where the marketplace allows http, it is only on loopback addresses. */
export function findInvalidFields(state: ConnectionState, { allowsHttp }: { allowsHttp: boolean }): InvalidField[] {
  const { status, clientId, fhirBaseUrl, reason } = state;
  const isMissing = (value: string | null, needed: string): boolean => status === needed && value === null;
  const urlError = fhirBaseUrl === null ? undefined : findUrlError(fhirBaseUrl, allowsHttp);
  const found: (InvalidField | false)[] = [
    isMissing(clientId, "ready") && { field: "clientId", detail: "is required if the status is ready" },
    isMissing(fhirBaseUrl, "ready") && { field: "fhirBaseUrl", detail: "is required if the status is ready" },
    urlError !== undefined && { field: "fhirBaseUrl", detail: urlError },
    isMissing(reason, "failed") && { field: "reason", detail: "is required if the status is failed" },
  ];
  return found.filter((each) => each !== false);
}

function findUrlError(text: string, allowsHttp: boolean): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "is not a URL";
  if (url.protocol !== "https:" && !allowsHttp) return "must be https";
  const isPlain = url.username === "" && url.password === "" && !/[?#]/.test(text);
  return isPlain ? undefined : "must not have a user name, a password, a query or a fragment";
}

export const isSameState = (one: ConnectionState, other: ConnectionState): boolean =>
  one.status === other.status &&
  one.clientId === other.clientId &&
  one.fhirBaseUrl === other.fhirBaseUrl &&
  one.reason === other.reason;

export const maxChangesPerHour = 30;
const hourMs = 3_600_000;

/** Milliseconds until a connection may change. `limitingChange` is the one that must be an hour old; null if there were too few. */
export const msUntilChange = (limitingChange: Date | null, now: Date): number =>
  limitingChange === null ? 0 : Math.max(0, limitingChange.getTime() + hourMs - now.getTime());
