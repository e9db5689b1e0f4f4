/** The marketplace can't be reached; a retry can succeed. */
export class MarketplaceUnavailableError extends Error {
  override readonly name = "MarketplaceUnavailableError";
}

/** The marketplace refused the request; a retry gets the same response. */
export class MarketplaceRefusalError extends Error {
  override readonly name = "MarketplaceRefusalError";
}
