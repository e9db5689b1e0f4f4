import { execFile } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LighthouseReport } from "./lighthouse-figures.ts";

// Not a dependency of this package: `npm run setup:lighthouse` installs it, so that `npm ci` doesn't for everybody.
const command = join(import.meta.dirname, "../../lighthouse/node_modules/lighthouse/cli/index.js");
const chromium = "/usr/bin/chromium";
const chromiumFlags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const timeoutMs = 180_000;

/** Throws if Lighthouse or Chromium isn't installed. */
export async function requireLighthouse(): Promise<void> {
  await access(command).catch(() => {
    throw new Error("Lighthouse isn't installed. Run: npm run setup:lighthouse (or measure without it: --figures 1)");
  });
  await access(chromium).catch(() => {
    throw new Error(`Chromium isn't installed at ${chromium}. CONTRIBUTING.md has the command that installs it.`);
  });
}

/** Lighthouse asks to be run again if Chromium has lost a trace, which says nothing about the page. */
const maxAttempts = 3;

async function runWithRetry(url: string, file: string, attempt = 1): Promise<LighthouseReport> {
  const options = [
    "--output=json",
    `--output-path=${file}`,
    "--only-categories=performance,accessibility,best-practices,seo",
    `--chrome-flags=${chromiumFlags.join(" ")}`,
    "--no-enable-error-reporting",
    "--quiet",
  ];
  const env = { ...process.env, CHROME_PATH: chromium };
  try {
    await promisify(execFile)(process.execPath, [command, url, ...options], { env, timeout: timeoutMs });
    const report = JSON.parse(await readFile(file, "utf8")) as LighthouseReport;
    if (report.runtimeError !== undefined) throw new Error(`Lighthouse: ${report.runtimeError.message}`);
    return report;
  } catch (error) {
    if (attempt === maxAttempts) throw error;
    console.error(`Lighthouse failed, attempt ${attempt} of ${maxAttempts}: ${(error as Error).message}`);
    return runWithRetry(url, file, attempt + 1);
  }
}

/** Runs Lighthouse with its mobile preset: a slow phone on a slow network, simulated. */
export async function runLighthouse(
  url: string,
  { runs, directory }: { runs: number; directory: string },
): Promise<LighthouseReport[]> {
  const reports: LighthouseReport[] = [];
  for (let run = 0; run < runs; run += 1) reports.push(await runWithRetry(url, join(directory, "lighthouse.json")));
  return reports;
}
