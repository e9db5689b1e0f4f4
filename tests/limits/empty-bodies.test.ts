import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import type { MatrixRequest } from "@ehr-marketplace/tests/support/permission-matrix";
import { startApiProcess, startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { prepareEhr } from "../access/prepare-ehr.ts";
import { prepareMarketplace } from "../access/prepare-marketplace.ts";
import { ehrRows, marketplaceRows } from "./route-rows.ts";

interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, { requestBody?: { required: boolean } } | undefined>>;
}

interface Target {
  method: string;
  url: string;
  headers: Record<string, string>;
}

const run = promisify(execFile);

const python = `
import json, sys, urllib.error, urllib.request
method, url, headers = sys.argv[1:]
request = urllib.request.Request(url, data=b"", method=method, headers=json.loads(headers))
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)
`;

type Clients = Record<string, (target: Target) => Promise<number>>;

/** What people use: both send an empty body as a form. */
const programs: Clients = {
  "curl -d ''": async ({ method, url, headers }) => {
    const named = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const quietly = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}"];
    return Number((await run("curl", [...quietly, "--request", method, "-d", "", ...named, url])).stdout);
  },
  'urllib with data=b""': async ({ method, url, headers }) =>
    Number((await run("python3", ["-c", python, method, url, JSON.stringify(headers)])).stdout),
};

/** Clients that send an empty body, each with another Content-Type. */
const clients: Clients = {
  "an empty form": ({ method, url, headers }) =>
    sendEmpty({ method, url, headers: { ...headers, "content-type": "application/x-www-form-urlencoded" } }),
  'fetch with body: ""': sendEmpty,
  "an empty JSON object": async ({ method, url, headers }) => {
    const response = await sendRequest(url, undefined, { method, headers, body: {} });
    await response.arrayBuffer();
    return response.status;
  },
};

async function sendEmpty({ method, url, headers }: Target): Promise<number> {
  // oxlint-disable-next-line unicorn/no-invalid-fetch-options -- no route of these is a GET
  const response = await fetch(url, { method, headers, body: "" });
  await response.arrayBuffer();
  return response.status;
}

/** Actions that require no body. CI checks that the OpenAPI documents are up to date. */
function bodilessRows(service: "marketplace" | "ehr", rows: Record<string, string>): [string, string][] {
  const file = new URL(`../../services/${service}/openapi.json`, import.meta.url);
  const { paths, servers } = JSON.parse(readFileSync(file, "utf8")) as Document;
  return Object.entries(rows).filter(([route]) => {
    const [method = "", path = ""] = route.split(" ");
    const documented = path.slice(servers[0]?.url.length).replaceAll(/:(\w+)/g, "{$1}");
    return /^(POST|DELETE)$/.test(method) && paths[documented]?.[method.toLowerCase()]?.requestBody?.required !== true;
  });
}

describe("routes without a body accept an empty one with any Content-Type", () => {
  const cleanUp = cleanUpAfter();
  let callers: Callers;
  let token: string;
  const urls = { marketplace: "", ehr: "" };
  let prepared: Record<"marketplace" | "ehr", { buildRequest(route: string, on: string): Promise<MatrixRequest> }>;

  before(async () => {
    callers = await fetchCallers();
    const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
    const environment = { ...callers.environment, LOG_LEVEL: "error" };
    urls.marketplace = (await startApiProcess(cleanUp, marketplaces.serviceUrl, { environment })).url;
    const credentials = {
      MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    };
    const ehr = { marketplaceUrl: urls.marketplace, environment: { ...environment, ...credentials } };
    urls.ehr = (await startEhrProcess(cleanUp, ehrs.serviceUrl, ehr)).url;
    // Operators don't report launches of sandbox apps.
    token = await signToken(callers, { roles: ["operator", "ehr-service"], organization: ["northwind-sandbox"] });
    const operator = callers.token("operator");
    prepared = {
      marketplace: await prepareMarketplace(urls.marketplace, operator, callers.token("northwind-developer")),
      ehr: await prepareEhr({ ...urls, ehrOwner: ehrs.ownerUrl }, callers),
    };
  });

  const headers = (): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    "x-vendor-slug": "northwind-health",
  });
  const assertAccepted = async (
    senders: Clients,
    service: "marketplace" | "ehr",
    [route, on]: [route: string, on: string],
  ): Promise<void> => {
    const target = async (): Promise<Target> => {
      const { path, headers: own } = await prepared[service].buildRequest(route, on);
      return { method: route.split(" ")[0] ?? "", url: `${urls[service]}${path}`, headers: { ...headers(), ...own } };
    };
    const { method, url, headers: sent } = await target();
    const without = (await fetch(url, { method, headers: sent })).status;
    // No request alone makes a notice of each audience.
    const isAccepted = without < 300 || without === 409 || (without === 404 && route.endsWith("/notices/:id/read"));
    assert.ok(isAccepted, `${without} without a body`);
    for (const [client, send] of Object.entries(senders)) assert.equal(await send(await target()), without, client);
  };

  for (const [service, rows] of [
    ["marketplace", marketplaceRows],
    ["ehr", ehrRows],
  ] as const) {
    const [first, ...others] = bodilessRows(service, rows);
    assert.ok(first !== undefined);
    test(`${first[0]}, also by curl and urllib`, () => assertAccepted({ ...programs, ...clients }, service, first));
    for (const row of others) test(row[0], () => assertAccepted(clients, service, row));
  }

  test("a route that requires a body returns 400 without one, and 415 for another type", async () => {
    const url = `${urls.marketplace}/api/v1/subscriptions`;
    for (const [client, send] of Object.entries({ ...programs, ...clients })) {
      assert.equal(await send({ method: "POST", url, headers: headers() }), 400, client);
    }
    const cancel = { method: "POST", url: `${url}/${crypto.randomUUID()}/cancel`, headers: headers() };
    const form = { ...cancel.headers, "content-type": "application/x-www-form-urlencoded" };
    assert.equal((await fetch(cancel.url, { method: "POST", headers: form, body: "a=1" })).status, 415);
  });
});
