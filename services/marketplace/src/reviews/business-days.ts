const dayMs = 86_400_000;

/** The same time of day, so many business days later: Mondays to Fridays in UTC. */
export function addBusinessDays(from: Date, days: number): Date {
  let at = from.getTime();
  for (let left = days; left > 0; ) {
    at += dayMs;
    const weekday = new Date(at).getUTCDay();
    if (weekday !== 0 && weekday !== 6) left -= 1;
  }
  return new Date(at);
}
