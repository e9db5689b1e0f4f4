import { createValidator } from "../create-validator.ts";
import type { SendToServer, ServerOutcome } from "./authorization-server.ts";
import type {
  CheckResult,
  FailedRequest,
  Failure,
  Management,
  RegistrationResult,
  RemovalResult,
  UpdateResult,
} from "./client-results.ts";
import { compareRegistered, hasAllValues, type RequestedMetadata } from "./compare-registered.ts";

export interface RegistrarOptions {
  /** The authorization server's client registration endpoint (RFC 7591). */
  url: string;
  /** The initial access token; empty: without one. */
  token: string;
  send: SendToServer;
}

/** Registers, reads, updates and removes clients by RFC 7591 and RFC 7592. Never throws. `metadata` is JSON text. */
export interface ClientRegistrar {
  register(metadata: string): Promise<RegistrationResult>;
  read(management: Management, clientId: string): Promise<CheckResult>;
  update(management: Management, clientId: string, metadata: string): Promise<UpdateResult>;
  remove(management: Management): Promise<RemovalResult>;
  /** Whether a client with this management URI is at the authorization server where clients are registered now. */
  isServerOf(uri: string): boolean;
}

interface RegistrationResponse {
  client_id: string;
  registration_client_uri?: string;
  registration_access_token?: string;
}

const maxUriLength = 2_048;
const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const validateResponse = createValidator<RegistrationResponse>({
  type: "object",
  properties: {
    client_id: { ...text(2_048), pattern: "^[ -~]+$" },
    registration_client_uri: text(maxUriLength),
    registration_access_token: { ...text(16_384), pattern: "^[!-~]+$" },
  },
  required: ["client_id"],
});

export function createClientRegistrar({ url, token, send }: RegistrarOptions): ClientRegistrar {
  return {
    async register(metadata) {
      const requested = toRequested(metadata);
      const outcome = await send({ method: "POST", url, bearer: token, body: requested });
      if (outcome.kind !== "responded" || !isSuccess(outcome.status)) return notRegistered(outcome, token);
      const response = validateResponse(outcome.body);
      if ("error" in response) {
        return {
          kind: "unknown",
          reason: `The authorization server responded with ${outcome.status}, without a client.`,
        };
      }
      const registered = { clientId: response.value.client_id, management: parseManagement(response.value, url) };
      const difference = compareRegistered(requested, outcome.body as object);
      return difference === undefined
        ? { kind: "registered", ...registered }
        : { kind: "differs", ...registered, reason: difference.reason };
    },

    async read(management, clientId) {
      const { outcome, response } = await sendRead(send, management, clientId);
      const denial = findDenial(outcome, management.token);
      if (denial !== undefined) return { kind: "denied", ...denial };
      if (response !== undefined) return { kind: "found", management: parseRotated(response, management) };
      if (outcome.kind !== "responded" || !isSuccess(outcome.status)) return notDone(outcome, management.token);
      const reason = `The authorization server responded with ${outcome.status}, without the client.`;
      return { kind: "refused", reason, isFinal: true };
    },

    async update(management, clientId, metadata) {
      const requested = toRequested(metadata);
      const result = await sendUpdate(send, management, clientId, requested);
      return result.kind === "unknown" ? findUpdated(send, management, clientId, requested, result) : result;
    },

    async remove(management) {
      const outcome = await send({ method: "DELETE", url: management.uri, bearer: management.token });
      const denial = findDenial(outcome, management.token);
      if (denial !== undefined) return { kind: "denied", ...denial, isOfServer: !isNotFoundAnywhere(outcome) };
      if (outcome.kind === "responded" && isSuccess(outcome.status)) return { kind: "removed" };
      const result = notDone(outcome, management.token);
      // Removing again is harmless, whatever became of this request. It is refused for good where it isn't supported.
      const isUnsupported = outcome.kind === "responded" && (outcome.status === 405 || outcome.status === 501);
      if (isUnsupported) return { ...result, kind: "refused", isFinal: true };
      return result.kind === "refused" ? { ...result, isFinal: false } : result;
    },

    isServerOf: (uri) => URL.parse(uri)?.origin === URL.parse(url)?.origin,
  };
}

async function sendUpdate(
  send: SendToServer,
  { uri, token }: Management,
  clientId: string,
  requested: RequestedMetadata,
): Promise<UpdateResult> {
  const body = { ...requested, client_id: clientId };
  const outcome = await send({ method: "PUT", url: uri, bearer: token, body });
  const denial = findDenial(outcome, token);
  if (denial !== undefined) return { kind: "denied", ...denial };
  if (outcome.kind !== "responded" || !isSuccess(outcome.status)) return notDone(outcome, token);
  const response = validateResponse(outcome.body);
  if ("error" in response || response.value.client_id !== clientId) {
    return {
      kind: "unknown",
      reason: `The authorization server responded with ${outcome.status}, without the client.`,
    };
  }
  const rotated = parseRotated(response.value, { uri, token });
  const difference = compareRegistered(requested, outcome.body as object);
  return difference === undefined
    ? { kind: "updated", management: rotated }
    : { kind: "differs", management: rotated, ...difference };
}

/** Reads a client whose update has an unknown result: some servers, Keycloak among them, respond with 500 if it doesn't exist. */
async function findUpdated(
  send: SendToServer,
  management: Management,
  clientId: string,
  requested: RequestedMetadata,
  unknown: Extract<UpdateResult, { kind: "unknown" }>,
): Promise<UpdateResult> {
  const { outcome, response } = await sendRead(send, management, clientId);
  const denial = findDenial(outcome, management.token);
  if (denial !== undefined) return { kind: "denied", ...denial };
  if (response === undefined) return unknown;
  const rotated = parseRotated(response, management);
  if (hasAllValues(requested, response)) return { kind: "updated", management: rotated };
  return { ...unknown, management: rotated };
}

/** `response` is undefined if it isn't the client. */
async function sendRead(
  send: SendToServer,
  { uri, token }: Management,
  clientId: string,
): Promise<{ outcome: ServerOutcome; response: RegistrationResponse | undefined }> {
  const outcome = await send({ method: "GET", url: uri, bearer: token });
  if (outcome.kind !== "responded" || !isSuccess(outcome.status)) return { outcome, response: undefined };
  const read = validateResponse(outcome.body);
  const isClient = !("error" in read) && read.value.client_id === clientId;
  return { outcome, response: isClient ? read.value : undefined };
}

/** The token may be another one after each request, and the response need not repeat the URI. */
function parseRotated(response: RegistrationResponse, { uri, token }: Management): Management | undefined {
  return parseManagement({ registration_client_uri: uri, registration_access_token: token, ...response }, uri);
}

/** Undefined if it isn't offered, or at another origin, which would receive the token. The origin of `blob:https://…` is that of its path. */
function parseManagement(response: RegistrationResponse, sameOrigin: string): Management | undefined {
  const { registration_client_uri: uri, registration_access_token: token } = response;
  const parsed = uri === undefined ? null : URL.parse(uri);
  if (parsed === null || token === undefined || parsed.origin !== new URL(sameOrigin).origin) return undefined;
  const isUsable = /^https?:$/.test(parsed.protocol) && parsed.href.length <= maxUriLength;
  return isUsable ? { uri: parsed.href, token } : undefined;
}

type Responded = Extract<ServerOutcome, { kind: "responded" }>;

function notDone(outcome: ServerOutcome, secret: string): FailedRequest {
  if (outcome.kind !== "responded") {
    const reason = `The authorization server: ${outcome.reason}.`;
    return outcome.kind === "unknown" ? { kind: "unknown", reason } : { kind: "refused", reason, isFinal: false };
  }
  const refusal = describeRefusal(outcome, secret);
  if (!isCertainlyRefused(outcome.status)) return { kind: "unknown", ...refusal };
  return { kind: "refused", ...refusal, isFinal: !isTemporary(outcome.status) };
}

/** Registering can't be repeated, so a refusal has to be certain. */
function notRegistered(outcome: ServerOutcome, secret: string): FailedRequest {
  if (outcome.kind === "responded" && mayBeOfProxy(outcome)) {
    return { kind: "unknown", ...describeRefusal(outcome, secret) };
  }
  return notDone(outcome, secret);
}

/** Proxies respond with 503, too, also after they have forwarded the request; but with neither an error of RFC 7591 nor `Retry-After`. */
const mayBeOfProxy = ({ status, body, hasRetryAfter }: Responded): boolean =>
  status === 503 && !hasRetryAfter && !hasError(body);

const hasError = (body: unknown): boolean => typeof (Object(body) as { error?: unknown }).error === "string";

/** The reason, if the client doesn't exist or its token is invalid. */
function findDenial(outcome: ServerOutcome, secret: string): Failure | undefined {
  if (outcome.kind !== "responded" || (outcome.status !== 401 && outcome.status !== 404)) return undefined;
  return describeRefusal(outcome, secret);
}

/** A proxy that lost its route responds with 404, too, but not in JSON. */
const isNotFoundAnywhere = (outcome: ServerOutcome): boolean =>
  outcome.kind === "responded" && outcome.status === 404 && !isJsonObject(outcome.body);

const isJsonObject = (body: unknown): boolean => typeof body === "object" && body !== null && !Array.isArray(body);

/** The codes of RFC 7591 and its extensions. Without digits: some servers have ids and times in each error. */
const errorCode = /^[a-z][a-z_-]{0,63}$/i;

/** Each other reason is reported to every organisation's vendor, so it has only the code of the error. */
function describeRefusal({ status, body }: Responded, secret: string): Failure {
  const { error } = Object(body) as { error?: unknown };
  const code = typeof error === "string" && error !== secret && errorCode.test(error) ? `: ${error}` : "";
  const reason = `The authorization server responded with ${status}${code}.`;
  const description = describeError(body, secret);
  return description === "" ? { reason } : { reason, description };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Of other responses, such as a proxy's 504, it isn't known whether the authorization server did what was requested. */
const isCertainlyRefused = (status: number): boolean =>
  status === 503 || (status >= 300 && status < 500 && status !== 408);

const isTemporary = (status: number): boolean => status === 404 || status === 429 || status === 503;

/** The authorization server chooses the client_id; an empty scope is none. */
function toRequested(metadata: string): RequestedMetadata {
  const {
    client_id: _ofTheMarketplace,
    scope,
    ...members
  } = JSON.parse(metadata) as RequestedMetadata & {
    client_id: string;
  };
  return { ...members, ...(scope === undefined || scope === "" ? {} : { scope }) };
}

const maxDescriptionLength = 200;

/** The error of RFC 7591, shortened. Words as long as a token are left out, since the server may repeat the request. */
function describeError(body: unknown, secret: string): string {
  const { error, error_description: description } = Object(body) as { error?: unknown; error_description?: unknown };
  const words = [error, description].filter((each) => typeof each === "string").join(": ");
  const plain = (secret === "" ? words : words.replaceAll(secret, "…"))
    .replaceAll(/\p{C}/gu, " ")
    .replaceAll(/[^ ]{65,}/g, "…")
    .trim()
    .replace(/\.$/, "");
  return plain.length > maxDescriptionLength ? `${plain.slice(0, maxDescriptionLength)}…` : plain;
}
