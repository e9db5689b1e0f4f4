import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const reconciliationProblems = {
  notConfigured: {
    code: "reconciliation-not-configured",
    status: 409,
    title: "Reconciliation is not configured",
    advice: "Set MARKETPLACE_TOKEN_URL, MARKETPLACE_CLIENT_ID and MARKETPLACE_CLIENT_SECRET.",
  },
  refused: {
    code: "marketplace-refuses",
    status: 409,
    title: "The marketplace refuses the request",
    advice: "Check that the client's token has the role ehr-service and names the organisation.",
  },
} satisfies Record<string, ProblemKind>;

/** The marketplace can't be reached; a retry can succeed. */
export class MarketplaceUnavailableError extends Error {
  override readonly name = "MarketplaceUnavailableError";
}

/** The marketplace refused the request; a retry gets the same response. */
export class MarketplaceRefusalError extends Error {
  override readonly name = "MarketplaceRefusalError";
}
