/** It can't be asked now: later, it can. */
export class MarketplaceAwayError extends Error {
  override readonly name = "MarketplaceAwayError";
}

/** It answered, and asking again won't change the answer. */
export class MarketplaceRefusesError extends Error {
  override readonly name = "MarketplaceRefusesError";
}
