import { exitWithUsage, readArguments } from "./command-line.ts";
import { loadWithProgress } from "./plausible-apps/load-with-progress.ts";

const usage = `Usage: DATABASE_URL=… npm run generate:apps -- --count NUMBER [options]

Adds plausible apps to a marketplace database.

  --count NUMBER  how many apps to add; required
  --seed NUMBER   generates other apps (1)
  --help          print this text

Environment: DATABASE_URL, required: the owner's connection string. "npm run dev" prints that of its own stack.

Examples:
  DATABASE_URL=postgres://… npm run generate:apps -- --count 1000`;

const { values } = readArguments(usage, {
  options: { count: { type: "string" }, seed: { type: "string", default: "1" } },
});
const { DATABASE_URL: url } = process.env;
const count = Number(values.count);
if (!Number.isInteger(count) || count < 1) exitWithUsage("--count requires a whole number above 0.", usage);
if (url === undefined) exitWithUsage("DATABASE_URL is not set.", usage);
await loadWithProgress(url, { count, seed: Number(values.seed) });
