import { parseArgs } from "node:util";
import { loadWithProgress } from "./plausible-apps/load-with-progress.ts";

const usage = `Adds plausible apps to a marketplace database.

  DATABASE_URL=postgres://… npm run generate:apps -- --count 1000

DATABASE_URL is the owner's; "npm run dev" prints that of its own stack.`;

const { values } = parseArgs({ options: { count: { type: "string" }, seed: { type: "string", default: "1" } } });
const { DATABASE_URL: url } = process.env;
const count = Number(values.count);
if (url === undefined || !Number.isInteger(count) || count < 1) {
  console.error(usage);
  process.exitCode = 1;
} else {
  await loadWithProgress(url, { count, seed: Number(values.seed) });
}
