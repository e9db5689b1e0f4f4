import type { SubscriptionPage } from "@ehr-marketplace/contracts";

/** What a practice's EHR has reported about the app: how far it is connected, and as which client. */
export interface Connection {
  orgAlias: string;
  status: "pending" | "ready" | "failed";
  clientId: string | null;
  fhirBaseUrl: string | null;
  reason: string | null;
}

export interface Practice {
  orgAlias: string;
  subscriptionId: string;
}

export interface ConnectionsOptions {
  marketplaceUrl: string;
  appSlug: string;
  /** Of one of the vendor's developers. */
  getToken: () => Promise<string>;
}

const timeoutMs = 5_000;
const maxPages = 10;

/**
 * The app's connections to practices, as its vendor reads them from the marketplace. A vendor with many practices keeps them instead,
 * and changes them when `connection.updated` arrives.
 */
export class Connections {
  readonly #options: ConnectionsOptions;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** The practices that have the app now, the newest first. */
  async listPractices(): Promise<Practice[]> {
    const practices: Practice[] = [];
    let after = "";
    for (let page = 0; page < maxPages; page += 1) {
      const query = new URLSearchParams({ appSlug: this.#options.appSlug, status: "active", limit: "1000" });
      if (after !== "") query.set("after", after);
      const { items, next } = await this.#get<SubscriptionPage>(`/developer/subscriptions?${query.toString()}`);
      practices.push(...items.map(({ orgAlias, id }) => ({ orgAlias, subscriptionId: id })));
      if (next === null) break;
      after = next;
    }
    return practices;
  }

  async read({ orgAlias, subscriptionId }: Practice): Promise<Connection> {
    const path = `/subscriptions/${subscriptionId}/connection`;
    return { ...(await this.#get<Omit<Connection, "orgAlias">>(path)), orgAlias };
  }

  /** Returns undefined if the practice doesn't have the app. */
  async find(orgAlias: string): Promise<Connection | undefined> {
    const practice = (await this.listPractices()).find((each) => each.orgAlias === orgAlias);
    return practice === undefined ? undefined : this.read(practice);
  }

  async #get<T>(path: string): Promise<T> {
    const { marketplaceUrl, getToken } = this.#options;
    const response = await fetch(`${marketplaceUrl}/api/v1${path}`, {
      headers: { authorization: `Bearer ${await getToken()}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`the marketplace responded to ${path} with ${response.status}`);
    return (await response.json()) as T;
  }
}
