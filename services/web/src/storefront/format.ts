/** Numbers, money and dates for people. All of them go through here, so that a second language is one parameter. */
const locale = "en-US";

const numbers = new Intl.NumberFormat(locale);
const plurals = new Intl.PluralRules(locale);
const lists = new Intl.ListFormat(locale, { type: "conjunction" });
const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const times = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
const months = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
const shortMonths = new Intl.DateTimeFormat(locale, { month: "short", timeZone: "UTC" });
/** The decimals that the API allows in an amount in minor units. */
const digitsOfMinorUnits = 8;
const moneyFormats = new Map<string, { digits: number; format: Intl.NumberFormat }>();

export const formatNumber = (value: number): string => numbers.format(value);

/** A number and what it counts, such as "1 app" or "2 apps". */
export const formatCount = (count: number, one: string, other: string): string =>
  `${formatNumber(count)} ${plurals.select(count) === "one" ? one : other}`;

/** A decimal as the API writes it, such as a quantity; exact, however long it is. */
export const formatDecimal = (value: string): string => numbers.format(value as Intl.StringNumericLiteral);

export const formatList = (items: readonly string[]): string => lists.format(items);

/** A day, such as "Nov 17, 2026 (UTC)". */
export const formatDate = (instant: string): string => `${dates.format(new Date(instant))} (UTC)`;

export const formatTime = (instant: Date): string => `${times.format(instant)} UTC`;

/** A time in a time zone, such as "Nov 19, 2026, 7:00 PM EST". In UTC where the browser doesn't know the zone. */
export function formatTimeIn(timeZone: string, instant: Date): string {
  const options = {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(instant);
  } catch {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }).format(instant);
  }
}

/** A month such as "2026-11", as "November 2026 (UTC)". */
export const formatMonth = (month: string): string => `${months.format(new Date(`${month}-01T00:00:00Z`))} (UTC)`;

/** A month without its year, such as "Nov", for the axis of a chart. */
export const formatShortMonth = (month: string): string => shortMonths.format(new Date(`${month}-01T00:00:00Z`));

function moneyFormat(currency: string): { digits: number; format: Intl.NumberFormat } {
  const known = moneyFormats.get(currency);
  if (known !== undefined) return known;
  const options = { style: "currency", currency } as const;
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat(locale, options).resolvedOptions();
  const maximumFractionDigits = digits + digitsOfMinorUnits;
  const format = new Intl.NumberFormat(locale, { ...options, maximumFractionDigits });
  const created = { digits, format };
  moneyFormats.set(currency, created);
  return created;
}

/** An amount in major units, as a decimal: "4900" minor units of USD are "49.00". Exact, also for fractions of a minor unit. */
export function toMajorUnits(minor: number | bigint | string, currency: string): string {
  const { digits } = moneyFormat(currency);
  const [, sign = "", whole = "0", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(minor)) ?? [];
  const padded = whole.padStart(digits + 1, "0");
  const decimals = padded.slice(padded.length - digits) + fraction;
  const units = padded.slice(0, padded.length - digits);
  return decimals === "" ? `${sign}${units}` : `${sign}${units}.${decimals}`;
}

/** An amount in minor units, from what a person has entered in major ones: "1,250.5" of USD is 125050. Undefined if it is no amount. */
export function toMinorUnits(entered: string, currency: string): number | undefined {
  const { digits } = moneyFormat(currency);
  const [, units, fraction = ""] = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/.exec(entered.trim()) ?? [];
  if (units === undefined || fraction.length > digits) return undefined;
  const minor = Number(`${units.replaceAll(",", "")}${fraction.padEnd(digits, "0")}`);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

export function formatMoney(minor: number | bigint | string, currency: string): string {
  return moneyFormat(currency).format.format(toMajorUnits(minor, currency) as Intl.StringNumericLiteral);
}
