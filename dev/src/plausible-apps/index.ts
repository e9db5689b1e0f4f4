export { loadWithProgress } from "./load-with-progress.ts";
export { Chance } from "./plausible-apps.ts";
