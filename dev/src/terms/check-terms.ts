// Refuses terms of our former dialect in declared names, file names and log messages of services and packages. Tests are free.
//   node dev/src/terms/check-terms.ts
import { glob, readFile } from "node:fs/promises";
import { readArguments } from "../command-line.ts";
import { findTerms } from "./find-terms.ts";

const usage = `Usage: npm run check:terms

Refuses terms that docs/glossary.md replaces, in names and log messages of services and packages. Where one is the
standard term, add it with the reason to \`allowed\` in dev/src/terms/find-terms.ts.

  --help  print this text

Examples:
  npm run check:terms`;

readArguments(usage, {});
let count = 0;
for await (const path of glob("{services,packages}/*/src/**/*.ts", { exclude: ["**/*.test*.ts"] })) {
  for (const { line, text, use } of findTerms(path, await readFile(path, "utf8"))) {
    console.error(`${path}:${line} ${text}: write "${use}"`);
    count += 1;
  }
}
if (count > 0) {
  console.error(`${count} names or log messages use terms that docs/glossary.md replaces.`);
  console.error("Where one is the standard term, add it with the reason to `allowed` in dev/src/terms/find-terms.ts.");
}
process.exitCode = count === 0 ? 0 : 1;
