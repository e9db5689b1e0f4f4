import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { freePort } from "../free-port.ts";
import { personaNames } from "./personas.ts";
import { startIdentityProvider } from "./start-identity-provider.ts";

const script = new URL("token.ts", import.meta.url).pathname;

interface Outcome {
  code: unknown;
  stdout: string;
  stderr: string;
}

function runScript(port: number | string, ...words: string[]): Promise<Outcome> {
  const env = { PATH: process.env["PATH"], IDP_PORT: String(port) };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

function assertHelpfulFailure({ code, stdout, stderr }: Outcome, expected: RegExp): void {
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, expected);
  assert.doesNotMatch(stderr, /^\s+at /m);
}

test("prints only the token, on one line", async () => {
  const idp = await startIdentityProvider({ port: 0 });
  try {
    const { code, stdout, stderr } = await runScript(new URL(idp.issuer).port, "hilltop-admin");
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const keys = createRemoteJWKSet(new URL(idp.jwksUrl));
    const { payload } = await jwtVerify(stdout.trim(), keys, { issuer: idp.issuer, audience: "marketplace" });
    assert.equal(payload.sub, "hilltop-admin");
  } finally {
    await idp.stop();
  }
});

test("lists the personas if none or an unknown one is given, with the usage only if none is", async () => {
  const port = await freePort();
  const [none, unknown, several] = [
    await runScript(port),
    await runScript(port, "dr-evil"),
    await runScript(port, "operator", "billing"),
  ];
  assertHelpfulFailure(none, /^A persona is required\./);
  assertHelpfulFailure(unknown, /^There is no persona "dr-evil"\./);
  assertHelpfulFailure(several, /^There is no persona "operator billing"\./);
  for (const persona of personaNames) assert.match(none.stderr, new RegExp(`^ {2}${persona} `, "m"));
  for (const { stderr } of [unknown, several]) {
    assert.ok(stderr.endsWith(` The personas: ${personaNames.join(", ")}.\n`), stderr);
    assert.equal(stderr.trim().split("\n").length, 1, stderr);
  }
});

test("explains how to start the stack if nothing listens on the port", async () => {
  assertHelpfulFailure(
    await runScript(await freePort(), "operator"),
    /^The stack is not running.*\nStart it: npm run dev$/m,
  );
});

test("reports an invalid port, and a port of another program", async () => {
  assertHelpfulFailure(await runScript("eighty", "operator"), /^IDP_PORT="eighty" is not a port\./);

  const stranger = createServer((_request, response) => response.end("<h1>It works!</h1>")).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  try {
    const { port } = stranger.address() as AddressInfo;
    assertHelpfulFailure(await runScript(port, "operator"), /returned no token.*another program/);
  } finally {
    stranger.close();
  }
});
