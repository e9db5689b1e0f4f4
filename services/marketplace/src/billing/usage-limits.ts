/** What usage may cost in a month where a practice has set no limit: minor units by currency. */
export type UsageLimits = ReadonlyMap<string, bigint>;

export const defaultUsageLimits = "CAD=50000,EUR=50000,GBP=50000,USD=50000";

const limitPattern = /^([A-Z]{3})=([1-9]\d{0,14})$/;

/** Limits such as `USD=50000,EUR=50000`. */
export function parseUsageLimits(text: string): UsageLimits {
  const limits = new Map<string, bigint>();
  for (const part of text.split(",").map((each) => each.trim())) {
    const [, currency, amount] = limitPattern.exec(part) ?? [];
    if (currency === undefined || amount === undefined) {
      throw new Error(`"${part}" isn't a limit such as USD=50000, in the currency's minor unit`);
    }
    if (limits.has(currency)) throw new Error(`${currency} has two limits`);
    limits.set(currency, BigInt(amount));
  }
  return limits;
}
