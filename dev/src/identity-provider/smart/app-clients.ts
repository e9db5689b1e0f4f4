import { errors } from "oidc-provider";

/** An app's client, as long as the organisation has the app and hasn't paused it. */
export interface ActiveApp {
  appSlug: string;
  subscriptionId: string;
  /** The scopes that the organisation has agreed to. */
  fhirScopes: string;
}

export interface AppClientsOptions {
  ehrUrl: string;
  getToken: () => Promise<string>;
  /** In milliseconds. */
  now: () => number;
}

const maxAgeMs = 60_000;
const maxEntries = 10_000;
const timeoutMs = 5_000;

function readMaxAgeMs(headers: Headers): number {
  const [, seconds = "0"] = /(?:^|[\s,])max-age=(\d{1,9})/.exec(headers.get("cache-control") ?? "") ?? [];
  return Math.min(Number(seconds) * 1_000, maxAgeMs);
}

/**
 * Asks the EHR whether a client is that of an app in use, before every token that it gets. The response is reused for at most 60 s, so
 * a paused or cancelled app gets no token after that. Only that an app is active is kept: what is resumed works at once.
 */
export class AppClients {
  readonly #options: AppClientsOptions;
  readonly #active = new Map<string, { app: ActiveApp; expiresAt: number }>();

  constructor(options: AppClientsOptions) {
    this.#options = options;
  }

  /** Returns undefined if the client may not have tokens for the organisation. `isFresh`: as the EHR says now. */
  async find(clientId: string, orgAlias: string, { isFresh = false } = {}): Promise<ActiveApp | undefined> {
    const key = JSON.stringify([clientId, orgAlias]);
    const requestedAt = this.#options.now();
    const known = this.#active.get(key);
    if (!isFresh && known !== undefined && known.expiresAt > requestedAt) return known.app;
    this.#active.delete(key);
    const { app, lifetimeMs } = await this.#request(clientId, orgAlias);
    if (app === undefined || lifetimeMs === 0) return app;
    const [oldest] = this.#active.keys();
    if (this.#active.size >= maxEntries && oldest !== undefined) this.#active.delete(oldest);
    this.#active.set(key, { app, expiresAt: requestedAt + lifetimeMs });
    return app;
  }

  async #request(clientId: string, orgAlias: string): Promise<{ app: ActiveApp | undefined; lifetimeMs: number }> {
    const { ehrUrl, getToken } = this.#options;
    const unavailable = () => new errors.TemporarilyUnavailable("the EHR did not say whether the app is in use");
    const token = await getToken();
    const query = new URLSearchParams({ clientId, orgAlias });
    const response = await fetch(`${ehrUrl}/api/internal/app-clients?${query.toString()}`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(() => {
      throw unavailable();
    });
    type Body = { data?: Partial<ActiveApp> & { active?: boolean } } | undefined;
    const body = (await response.json().catch(() => undefined)) as Body;
    const { active, appSlug, subscriptionId, fhirScopes } = body?.data ?? {};
    if (response.status !== 200 || active === undefined) throw unavailable();
    if (!active) return { app: undefined, lifetimeMs: 0 };
    if (appSlug === undefined || subscriptionId === undefined || fhirScopes === undefined) throw unavailable();
    return { app: { appSlug, subscriptionId, fhirScopes }, lifetimeMs: readMaxAgeMs(response.headers) };
  }
}
