import type { Practice } from "../api/session.ts";

const key = "practice";

/** Only the alias is stored, and counts only for those who belong to that practice. */
export function rememberPractice(alias: string): void {
  try {
    localStorage.setItem(key, alias);
  } catch {
    // Storage may be forbidden. The console then begins at the first practice.
  }
}

function readAlias(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** The practice that was opened last in this browser, or else the first one. */
export function findStartPractice(practices: readonly Practice[]): Practice | undefined {
  const alias = readAlias();
  return practices.find((practice) => practice.alias === alias) ?? practices[0];
}
