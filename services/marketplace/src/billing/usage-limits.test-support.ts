import type { UsageLimits } from "./usage-limits.ts";

/** For tests of something else. */
export const highUsageLimits: UsageLimits = new Map([["USD", 10n ** 18n]]);
