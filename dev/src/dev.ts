import { styleText } from "node:util";
import { readArguments } from "./command-line.ts";
import { type Stack, startStack } from "./stack/start-stack.ts";

const usage = `Usage: npm run dev -- [options]

Starts the local stack: PostgreSQL, the web, the marketplace (API and worker), the EHR, an identity provider and a demo
app.
When a source file changes, the services that use it restart. Ctrl+C stops the stack.

  --ephemeral  keep the data in a temporary folder, which is deleted when the stack stops; otherwise it stays in .dev
  --inspect    let debuggers attach: to the API on port 9229, the worker on 9230, the EHR on 9231, the web on 9232
  --help       print this text

Environment: WEB_PORT (8090), MARKETPLACE_PORT (8080), EHR_PORT (8081), IDP_PORT (8082; the demo app and the worker's
health use the two ports above), INSPECT_PORT (9229; likewise), DATABASE_URL (a PostgreSQL of your own, as superuser),
DATA_DIRECTORY (.dev),
ALLOWED_ORIGINS (of pages that may call the APIs with a token; by default localhost and 127.0.0.1 on the usual ports of
front ends: 3000, 4200, 5173 and 8000), CLIENT_REGISTRATION_URL and CLIENT_REGISTRATION_TOKEN (another authorization server at
which apps' clients are registered; the demo app signs in only with the stack's own), LOG_LEVEL (warn; info prints each
request).

Examples:
  npm run dev
  npm run dev -- --ephemeral --inspect
  WEB_PORT=9090 MARKETPLACE_PORT=9080 EHR_PORT=9081 IDP_PORT=9082 npm run dev`;

const flag = { type: "boolean", default: false } as const;
const { values } = readArguments(usage, { options: { ephemeral: flag, inspect: flag } });
const began = performance.now();

function report(step: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(5);
  console.log(`${styleText("dim", `${seconds} s`)}  ${step} …`);
}

/** A shell that runs `npm run token` doesn't know the port that this one was given. */
const { IDP_PORT: givenPort = "" } = process.env;
const tokenPort = givenPort === "" ? "" : `IDP_PORT=${givenPort} `;

type Sections = Record<string, [label: string, value: string][]>;

function listUrls({
  webUrl,
  marketplaceUrl,
  workerUrl,
  ehrUrl,
  demoAppUrl,
  issuer,
  databases,
  demo,
  inspectPorts,
}: Stack): Sections {
  return {
    Web: [
      ["Start page", webUrl],
      ["Sign in", `${webUrl}/login`],
      ["Health and metrics", `${webUrl}/health/ready  ${webUrl}/metrics`],
      ["Database, as owner", databases.web.ownerUrl],
    ],
    Marketplace: [
      ["Overview", marketplaceUrl],
      ["API reference", `${marketplaceUrl}/docs`],
      ["OpenAPI document", `${marketplaceUrl}/api/v1/openapi.json`],
      [`All ${demo.apps} apps`, `${marketplaceUrl}/api/v1/apps`],
      ["A search, with a typo", `${marketplaceUrl}/api/v1/apps/search?q=schedulng`],
      ["One app", `${marketplaceUrl}/api/v1/apps/northwind-scribe`],
      ["Its prices", `${marketplaceUrl}/api/v1/apps/northwind-scribe/pricing`],
      ["Health and metrics", `${marketplaceUrl}/health/ready  ${marketplaceUrl}/metrics`],
      ["Worker health, metrics", `${workerUrl}/health/ready  ${workerUrl}/metrics`],
      ["Database, as owner", databases.marketplace.ownerUrl],
    ],
    "The practices' EHR": [
      ["Overview", ehrUrl],
      ["API reference", `${ehrUrl}/docs`],
      ["OpenAPI document", `${ehrUrl}/api/openapi.json`],
      ["Demo app", `${demoAppUrl}  opened by POST /api/app-installations/northwind-scribe/launch`],
      ["Background service", `${demoAppUrl}/background  of northwind-watch`],
      ["Health and metrics", `${ehrUrl}/health/ready  ${ehrUrl}/metrics`],
      ["Database, as owner", databases.ehr.ownerUrl],
    ],
    "Identity provider": [
      ["OpenID configuration", `${issuer}/.well-known/openid-configuration`],
      ["A token", `${tokenPort}npm run --silent token -- riverside-admin`],
    ],
    ...(inspectPorts !== undefined && {
      Debuggers: [
        ["API", `127.0.0.1:${inspectPorts.marketplace}`],
        ["Worker", `127.0.0.1:${inspectPorts.worker}`],
        ["EHR", `127.0.0.1:${inspectPorts.ehr}`],
        ["Web", `127.0.0.1:${inspectPorts.web}`],
      ],
    }),
  };
}

let stack: Stack | undefined;
const stopping = new AbortController();

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping.signal.aborted) return;
  console.log(`\n${signal}: stopping${stack === undefined ? " after the current step" : ""} …`);
  stopping.abort();
  // If the stack is still starting, it stops what it has started.
  await (stack ?? (await starting.catch(() => undefined)))?.stop();
  console.log("stopped");
  process.exit(0);
}
process.on("SIGINT", (signal) => void stop(signal));
process.on("SIGTERM", (signal) => void stop(signal));

const starting = startStack(values, report, stopping.signal);
try {
  stack = await starting;
  if (!stopping.signal.aborted) {
    console.log(`\n${styleText("bold", "EHR Marketplace")}, with a demo catalog. Ctrl+C stops it.`);
    for (const [section, entries] of Object.entries(listUrls(stack))) {
      console.log(`\n${styleText("bold", section)}`);
      for (const [label, value] of entries) console.log(`  ${label.padEnd(24)}${styleText("cyan", value)}`);
    }
    console.log("\nready");
  }
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
