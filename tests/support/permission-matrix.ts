import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";
import { type Asking, askAt, type Callers, startCallers } from "./callers.ts";
import type { CleanUp } from "./clean-up.ts";
import { badTokens, signedToken } from "./forged-tokens.ts";

export interface Row {
  /** As the server names the route: `GET /api/v1/apps/:slug`. */
  route: string;
  /** What is asked for, where a route has several rows. */
  on: string;
  /** The status for each kind of caller with a valid token, and for nobody. */
  expected: Map<string, number>;
}

/** Reads a table as it is written in a test: `route | on | status …`, under a head that names the kinds of callers. */
export function readMatrix(text: string): Row[] {
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
export function assertComplete(server: FastifyInstance, routes: string[]): void {
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

/** The answer's status; a connection that is closed on a request too large for Node's parser still has one. */
export async function statusOf(url: string, token: string | undefined, question: Question): Promise<number> {
  const answer = await askAt(`${url}${question.path}`, token, question);
  await answer.arrayBuffer();
  return answer.status;
}
