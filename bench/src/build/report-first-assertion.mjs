// Preloaded into all processes of a run of tests: writes the time of their first assertion to a file.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";

let hasReported = false;

for (const [name, check] of Object.entries(assert)) {
  if (typeof check !== "function" || /^[A-Z]/.test(name)) continue;
  assert[name] = (...args) => {
    if (!hasReported) appendFileSync(process.env["FIRST_ASSERTION_FILE"], `${Date.now()}\n`);
    hasReported = true;
    return check(...args);
  };
}
