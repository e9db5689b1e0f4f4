import assert from "node:assert/strict";
import { isFullRun } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";
import { type Callers, fetchCallers, type RequestOptions, sendRequest } from "./callers.ts";
import { createInvalidTokens, signToken } from "./forged-tokens.ts";

export interface MatrixRow {
  /** The method and route pattern: `GET /api/v1/apps/:slug`. */
  route: string;
  /** The resource that the request acts on, where a route has several rows. */
  on: string;
  isFirstOfRoute: boolean;
  /** The expected status for each kind of caller with a valid token, and for anonymous requests. */
  expected: Map<string, number>;
}

/** Parses a Markdown table: `route | on | status …`, with a header row that names the kinds of callers. */
export function parseMatrix(text: string): MatrixRow[] {
  const [head = [], ...lines] = text
    .trim()
    .split("\n")
    .filter((line) => !/^[\s|:-]*$/.test(line))
    .map((line) =>
      line
        .replace(/^\s*\||\|\s*$/g, "")
        .split("|")
        .map((cell) => cell.trim()),
    );
  const kinds = head.slice(2);
  return lines.map(([route = "", on = "", ...statuses], nth) => {
    assert.equal(statuses.length, kinds.length, `${route} ${on} needs a cell for every kind of caller`);
    const isFirstOfRoute = lines.findIndex(([other]) => other === route) === nth;
    const expected = new Map(kinds.map((kind, index) => [kind, Number(statuses[index])]));
    return { route, on, isFirstOfRoute, expected };
  });
}

export interface CallerKinds {
  valid: Map<string, string | undefined>;
  invalid: Map<string, string>;
  callers: Callers;
}

/** Creates every kind of caller: anonymous, each persona, valid tokens of unknown organisations and vendors, and invalid tokens. */
export async function createCallerKinds(personas: readonly string[]): Promise<CallerKinds> {
  const callers = await fetchCallers();
  const valid = new Map<string, string | undefined>([["anonymous", undefined]]);
  // No operator has registered Juniper Labs: the foreign vendor and organisation stand for its personas.
  const registered = personas.filter((persona) => !persona.startsWith("juniper-"));
  for (const persona of registered) valid.set(persona, callers.token(persona as Parameters<Callers["token"]>[0]));
  const elsewhere = { "elsewhere-clinic": { roles: ["org-admin"] } };
  valid.set("foreign-organisation", await signToken(callers, { organization: elsewhere }));
  valid.set("foreign-vendor", await signToken(callers, { vendor: "elsewhere-software", roles: ["vendor-developer"] }));
  valid.set(
    "flat-role-in-two",
    await signToken(callers, { organization: ["riverside-clinic", "hilltop-family-practice"], roles: ["org-admin"] }),
  );
  return { valid, invalid: new Map(Object.entries(await createInvalidTokens(callers))), callers };
}

/** Checks that every route has a row and every row has a route. */
function assertComplete(server: FastifyInstance, routes: string[]): void {
  const served = new Set(server.routesAndAccess.map(({ method, url }) => `${method} ${url}`));
  assert.deepEqual(
    [...served].filter((route) => !routes.includes(route)),
    [],
    "these routes have no row in the matrix, and are not among the public routes beside it",
  );
  assert.deepEqual(
    routes.filter((route) => !served.has(route)),
    [],
    "these rows have no route",
  );
}

export interface MatrixRequest extends RequestOptions {
  path: string;
}

export interface MatrixTarget {
  url: string;
  kinds: CallerKinds;
  /** Called with every response. */
  checkResponse?: (method: string, path: string, response: Response) => Promise<void>;
}

/** Returns the response's status; a request too large for Node's parser gets one before the connection is closed. */
async function statusOf(
  { url, checkResponse }: MatrixTarget,
  token: string | undefined,
  request: MatrixRequest,
): Promise<number> {
  const response = await sendRequest(`${url}${request.path}`, token, request);
  if (checkResponse === undefined) await response.arrayBuffer();
  else await checkResponse(request.method ?? "GET", request.path, response);
  return response.status;
}

/** Checks that a public route responds with the same status to every caller, with any token or none. */
export async function assertPublicRoute(
  target: MatrixTarget,
  { status, ...request }: MatrixRequest & { status: number },
): Promise<void> {
  for (const [kind, token] of [...target.kinds.valid, ...target.kinds.invalid]) {
    assert.equal(await statusOf(target, token, request), kind === "100 KiB" ? 431 : status, kind);
  }
}

/**
 * Sends the request as every kind of caller. `prepare` runs again after each success that may have changed the state. HEAD, and tokens
 * that nobody accepts, are sent once for each route, in the slow tier in each row.
 */
export async function assertMatrixRow(
  target: MatrixTarget,
  { route, isFirstOfRoute, expected }: MatrixRow,
  prepare: () => Promise<Omit<MatrixRequest, "method">>,
): Promise<void> {
  const [method = ""] = route.split(" ");
  let prepared: Omit<MatrixRequest, "method"> | undefined;
  const requestStatus = async (token: string | undefined, as = method): Promise<number> => {
    prepared ??= await prepare();
    const status = await statusOf(target, token, { ...prepared, method: as });
    if ((status < 400 && method !== "GET") || isFullRun) prepared = undefined;
    return status;
  };
  const { kinds } = target;
  assert.deepEqual([...kinds.valid.keys()], [...expected.keys()], "the table needs a column for every kind of caller");
  for (const [kind, token] of kinds.valid) assert.equal(await requestStatus(token), expected.get(kind), kind);
  if (!(isFirstOfRoute || isFullRun)) return;
  for (const [kind, token] of kinds.invalid)
    assert.equal(await requestStatus(token), kind === "100 KiB" ? 431 : 401, kind);
  if (method !== "GET") return;
  for (const [kind, token] of kinds.valid) {
    assert.equal(await requestStatus(token, "HEAD"), expected.get(kind), `HEAD, ${kind}`);
  }
}

const headRouteOf = (route: string): string => route.replace(/^GET /, "HEAD ");

/** Checks that every route has a row or is listed as public, and that the route declares the same access. */
export function assertDeclaredAccess(
  server: FastifyInstance,
  matrix: MatrixRow[],
  open: ReadonlyMap<string, unknown>,
): void {
  const closed = matrix.map(({ route }) => route);
  const withHead = closed.filter((route) => route.startsWith("GET ")).map(headRouteOf);
  assertComplete(server, [...new Set([...closed, ...withHead, ...open.keys()])]);
  for (const { method, url, access } of server.routesAndAccess) {
    assert.equal(access === "anyone", open.has(`${method} ${url}`), `${method} ${url}`);
  }
}
