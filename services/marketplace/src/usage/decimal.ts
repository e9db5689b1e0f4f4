/** Quantities have at most 6 decimals, so they are whole numbers of millionths. */
const perUnit = 1_000_000n;
const decimalPattern = /^(\d{1,15})(?:\.(\d{1,6}))?$/;

/** Undefined: not a quantity. A number that JSON can't represent exactly has more digits than are allowed, or an exponent. */
export function parseQuantity(quantity: number | string): bigint | undefined {
  if (typeof quantity === "number" && quantity > Number.MAX_SAFE_INTEGER) return undefined;
  const [, whole, decimals = ""] = decimalPattern.exec(String(quantity)) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * perUnit + BigInt(decimals.padEnd(6, "0"));
}

export function formatQuantity(millionths: bigint): string {
  const sign = millionths < 0n ? "-" : "";
  const size = millionths < 0n ? -millionths : millionths;
  const decimals = String(size % perUnit)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${sign}${size / perUnit}${decimals === "" ? "" : `.${decimals}`}`;
}

/** As PostgreSQL returns a sum, without zeros at the end. */
export const trimDecimal = (decimal: string): string =>
  decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
