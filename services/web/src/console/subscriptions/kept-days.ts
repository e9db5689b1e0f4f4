/** A day costs the most that the practice had in so many days, of which it is the last. */
export const keptDays = 7;

const dayMs = 86_400_000;

export const addDays = (time: Date, days: number): string => new Date(time.getTime() + days * dayMs).toISOString();
