import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";
import { type Asking, askAt, type Callers, startCallers } from "./callers.ts";
import type { CleanUp } from "./clean-up.ts";
import { badTokens, signedToken } from "./forged-tokens.ts";

export interface MatrixRow {
  /** As the server names the route: `GET /api/v1/apps/:slug`. */
  route: string;
  /** What is asked for, where a route has several rows. */
  on: string;
  /** The status for each kind of caller with a valid token, and for nobody. */
  expected: Map<string, number>;
}

/** Reads a table as it is written in a test: `route | on | status …`, under a head that names the kinds of callers. */
export function readMatrix(text: string): MatrixRow[] {
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
  return lines.map(([route = "", on = "", ...statuses]) => {
    assert.equal(statuses.length, kinds.length, `${route} ${on} has a cell for every kind of caller`);
    return { route, on, expected: new Map(kinds.map((kind, index) => [kind, Number(statuses[index])])) };
  });
}

export interface KindsOfCallers {
  valid: Map<string, string | undefined>;
  bad: Map<string, string>;
  callers: Callers;
}

/** Everyone who may come: nobody, each persona, strangers whose tokens are good, and tokens that are not. */
export async function everyKindOfCaller(cleanUp: CleanUp, personas: readonly string[]): Promise<KindsOfCallers> {
  const callers = await startCallers(cleanUp);
  const valid = new Map<string, string | undefined>([["anonymous", undefined]]);
  for (const persona of personas) valid.set(persona, callers.token(persona as Parameters<Callers["token"]>[0]));
  const elsewhere = { "elsewhere-clinic": { roles: ["org-admin"] } };
  valid.set("foreign-organisation", await signedToken(callers, { organization: elsewhere }));
  valid.set(
    "foreign-vendor",
    await signedToken(callers, { vendor: "elsewhere-software", roles: ["vendor-developer"] }),
  );
  valid.set(
    "flat-role-in-two",
    await signedToken(callers, { organization: ["riverside-clinic", "hilltop-family-practice"], roles: ["org-admin"] }),
  );
  return { valid, bad: new Map(Object.entries(await badTokens(callers))), callers };
}

/** Every route has a row, and every row a route. */
function assertComplete(server: FastifyInstance, routes: string[]): void {
  const served = new Set(server.routesAndAccess.map(({ method, url }) => `${method} ${url}`));
  assert.deepEqual(
    [...served].filter((route) => !routes.includes(route)),
    [],
    "these routes have no row",
  );
  assert.deepEqual(
    routes.filter((route) => !served.has(route)),
    [],
    "these rows have no route",
  );
}

export interface Question extends Asking {
  path: string;
}

export interface Asked {
  url: string;
  kinds: KindsOfCallers;
  /** Looks at every answer. */
  hold?: (method: string, path: string, answer: Response) => Promise<void>;
}

/** The answer's status; a connection that is closed on a request too large for Node's parser still has one. */
async function statusOf({ url, hold }: Asked, token: string | undefined, question: Question): Promise<number> {
  const answer = await askAt(`${url}${question.path}`, token, question);
  if (hold === undefined) await answer.arrayBuffer();
  else await hold(question.method ?? "GET", question.path, answer);
  return answer.status;
}

/** A route that is open answers the same to everyone, whatever token they carry. */
export async function assertOpen(asked: Asked, { status, ...question }: Question & { status: number }): Promise<void> {
  for (const [kind, token] of [...asked.kinds.valid, ...asked.kinds.bad]) {
    assert.equal(await statusOf(asked, token, question), kind === "100 KiB" ? 431 : status, kind);
  }
}

/** Asks as every kind of caller; what is asked is prepared anew each time, because the one before may have changed it. */
export async function assertRow(
  asked: Asked,
  { route, expected }: MatrixRow,
  prepare: () => Promise<Omit<Question, "method">>,
): Promise<void> {
  const [method = ""] = route.split(" ");
  const ask = async (token: string | undefined, as = method): Promise<number> =>
    statusOf(asked, token, { ...(await prepare()), method: as });
  const { kinds } = asked;
  assert.deepEqual([...kinds.valid.keys()], [...expected.keys()], "the table has a column for every kind of caller");
  for (const [kind, token] of kinds.valid) assert.equal(await ask(token), expected.get(kind), kind);
  for (const [kind, token] of kinds.bad) assert.equal(await ask(token), kind === "100 KiB" ? 431 : 401, kind);
  if (method !== "GET") return;
  for (const [kind, token] of kinds.valid) {
    assert.equal(await ask(token, "HEAD"), expected.get(kind), `HEAD, ${kind}`);
  }
}

const headTwinOf = (route: string): string => route.replace(/^GET /, "HEAD ");

/** Every route has a row or is meant to be open, and states the same itself. */
export function assertStated(server: FastifyInstance, matrix: MatrixRow[], open: ReadonlyMap<string, unknown>): void {
  const closed = matrix.map(({ route }) => route);
  const withHead = closed.filter((route) => route.startsWith("GET ")).map(headTwinOf);
  assertComplete(server, [...new Set([...closed, ...withHead, ...open.keys()])]);
  for (const { method, url, access } of server.routesAndAccess) {
    assert.equal(access === "anyone", open.has(`${method} ${url}`), `${method} ${url}`);
  }
}
