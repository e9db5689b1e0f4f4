import type { MarketplaceTokens } from "../reconciliation/marketplace-tokens.ts";
import { MarketplaceRefusalError } from "../reconciliation/reconciliation-errors.ts";

/** Sandbox apps aren't public: an organisation's EHR reads those that the organisation has subscribed to. */
export interface SandboxAccess {
  tokens: MarketplaceTokens;
  /** The organisations with a live subscription to the app, as far as it is known here. */
  findSubscribers: (appSlug: string) => Promise<string[]>;
}

/** A response of the marketplace that says nothing about the app. */
export class MarketplaceResponseError extends Error {
  override readonly name = "MarketplaceResponseError";
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** A token may be for one organisation, and one that isn't subscribed at the marketplace isn't told of the app: each is tried. */
export async function requestAsSubscriber<T extends { kind: string }>(
  { tokens, findSubscribers }: SandboxAccess,
  appSlug: string,
  request: (bearer: string) => Promise<T>,
): Promise<T | { kind: "absent" }> {
  const tried = new Set<string>();
  const refusals: Error[] = [];
  for (const orgAlias of await findSubscribers(appSlug)) {
    try {
      const bearer = await tokens.get(orgAlias);
      if (tried.has(bearer)) continue;
      tried.add(bearer);
      const response = await request(bearer).catch(async (error: unknown) => {
        if (statusOf(error) !== 401) throw error;
        // The token or its signing key may have been revoked, so retry once with a new token.
        tokens.invalidate(bearer);
        return request(await tokens.get(orgAlias));
      });
      if (response.kind !== "absent") return response;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.push(error);
    }
  }
  const [refusal] = refusals;
  if (refusal !== undefined) throw refusal;
  return { kind: "absent" };
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof MarketplaceResponseError ? error.status : undefined;

/** Whether the marketplace or the identity provider refuses one organisation; another may be accepted. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof MarketplaceRefusalError || statusOf(error) === 401 || statusOf(error) === 403;

/** Other servers, and wrong paths at the marketplace, also respond with 404. Taken as absent, they would quarantine every app. */
export function hasCode(text: string, ...codes: string[]): boolean {
  try {
    const { code } = Object(JSON.parse(text)) as { code?: unknown };
    return typeof code === "string" && codes.includes(code);
  } catch {
    return false;
  }
}
