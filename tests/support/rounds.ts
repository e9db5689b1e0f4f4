/** Few rounds where every change is checked; all of them with `npm run test:faults`, which closes an issue. */
export function rounds(few: number, full: number): number {
  return process.env["FAULT_ROUNDS"] === "full" ? full : few;
}
