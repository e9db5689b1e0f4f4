import { parseArgs, styleText } from "node:util";
import { type Stack, startStack } from "./stack/start-stack.ts";

const { values } = parseArgs({ options: { ephemeral: { type: "boolean", default: false } } });
const began = performance.now();

function report(step: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(5);
  console.log(`${styleText("dim", `${seconds} s`)}  ${step} …`);
}

function places({ marketplaceUrl, issuer, ehrUrl, database, demo }: Stack): [string, string][] {
  return [
    ["API reference", `${marketplaceUrl}/docs`],
    ["OpenAPI document", `${marketplaceUrl}/api/v1/openapi.json`],
    [`All ${demo.apps} apps`, `${marketplaceUrl}/api/v1/apps`],
    ["A search, with a typo", `${marketplaceUrl}/api/v1/apps/search?q=schedulng`],
    ["One app", `${marketplaceUrl}/api/v1/apps/northwind-scribe`],
    ["Its prices", `${marketplaceUrl}/api/v1/apps/northwind-scribe/pricing`],
    ["Identity provider", `${issuer}/.well-known/openid-configuration`],
    ["A token", "npm run --silent token -- riverside-admin"],
    ["The practices' EHR", `${ehrUrl}  prints what it is told`],
    ["Health and metrics", `${marketplaceUrl}/health/ready  ${marketplaceUrl}/metrics`],
    ["Database, as owner", database.ownerUrl],
  ];
}

let stack: Stack | undefined;
let stopping = false;

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping) return;
  stopping = true;
  console.log(`\n${signal}: stopping …`);
  // A stack that is still on its way up is stopped by what it has started so far.
  await (stack ?? (await starting.catch(() => undefined)))?.stop();
  console.log("stopped");
  process.exit(0);
}
process.on("SIGINT", (signal) => void stop(signal));
process.on("SIGTERM", (signal) => void stop(signal));

const starting = startStack({ ephemeral: values.ephemeral }, report);
try {
  stack = await starting;
  if (!stopping) {
    console.log(`\n${styleText("bold", "EHR Marketplace")}, with a demo catalog. Ctrl+C stops it.\n`);
    for (const [what, where] of places(stack)) console.log(`  ${what.padEnd(24)}${styleText("cyan", where)}`);
    console.log("\nready");
  }
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
