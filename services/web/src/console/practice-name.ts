/** A practice for people. The APIs know its alias only: "riverside-clinic" becomes "Riverside Clinic". */
export const practiceName = (alias: string): string =>
  alias
    .split("-")
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
