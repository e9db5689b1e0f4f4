import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { createServerClient } from "./authorization-server.ts";
import { type ClientRegistrar, createClientRegistrar } from "./client-registrar.ts";
import type { Management } from "./client-results.ts";

const document = clientMetadataOf("northwind-scribe");
const metadata = JSON.stringify(document);
const { client_id: _id, ...requested } = document;

const json = (response: ServerResponse, status: number, body: unknown): boolean => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return true;
};

describe("an authorization server", () => {
  const cleanUp = cleanUpAfter();
  let server: RegistrationServer;
  let registrar: ClientRegistrar;
  const createRegistrar = (url: string, timeoutMs?: number): ClientRegistrar => {
    const token = server.environment["CLIENT_REGISTRATION_TOKEN"] ?? "";
    return createClientRegistrar({ url, token, send: createServerClient(timeoutMs) });
  };
  before(async () => {
    server = await startRegistrationServer(cleanUp);
    registrar = createRegistrar(server.url);
  });
  beforeEach(() => {
    server.interfere = () => false;
    server.clients.clear();
    server.requests.splice(0);
  });
  const register = async (): Promise<{ clientId: string; management: Management }> => {
    const result = await registrar.register(metadata);
    assert.ok(result.kind === "registered" && result.management !== undefined, JSON.stringify(result));
    return { clientId: result.clientId, management: result.management };
  };

  test("registers, updates with another token, and removes a client", async () => {
    const { clientId, management } = await register();
    assert.deepEqual(server.clients.get(clientId)?.metadata, requested, "without the marketplace's client_id");
    const changed = { ...document, redirect_uris: ["https://app.example/other"] };
    const updated = await registrar.update(management, clientId, JSON.stringify(changed));
    assert.ok(updated.kind === "updated" && updated.management !== undefined);
    assert.notEqual(updated.management.token, management.token);
    assert.deepEqual(server.clients.get(clientId)?.metadata["redirect_uris"], changed.redirect_uris);
    assert.equal((await registrar.remove(management)).kind, "denied", "the earlier token is no longer valid");
    assert.deepEqual(await registrar.remove(updated.management), { kind: "removed" });
    assert.equal(server.clients.size, 0);
    assert.equal((await registrar.remove(updated.management)).kind, "denied");
    assert.equal((await registrar.update(updated.management, clientId, metadata)).kind, "denied");
  });

  const withNewName = JSON.stringify({ ...document, client_name: "A new name" });

  for (const status of [401, 404] as const) {
    test(`that doesn't say whether it updated a client, and reads it with ${status}, denies it`, async () => {
      const { clientId, management } = await register();
      server.interfere = ({ method }, response) => json(response, method === "PUT" ? 500 : status, {});
      const result = await registrar.update(management, clientId, withNewName);
      assert.deepEqual(result, { kind: "denied", reason: `The authorization server responded with ${status}.` });
      assert.deepEqual(
        server.requests.map(({ method }) => method),
        ["POST", "PUT", "GET"],
      );
    });
  }

  test("that doesn't say whether it updated a client, and reads it with the new values, has updated it", async () => {
    const { clientId, management } = await register();
    server.interfere = ({ method }, response) => {
      const client = server.clients.get(clientId);
      if (method !== "PUT" || client === undefined) return false;
      // The token stays, as where a response is lost before the token is replaced.
      server.clients.set(clientId, { ...client, metadata: { ...requested, client_name: "A new name" } });
      return json(response, 502, {});
    };
    const result = await registrar.update(management, clientId, withNewName);
    assert.equal(result.kind, "updated");
    const { token } = server.clients.get(clientId) ?? assert.fail();
    assert.ok("management" in result && result.management?.token === token, "the read replaced it");
  });

  for (const [what, changes] of [
    ["the earlier values", {}],
    ["only some of the values", { client_name: undefined }],
    ["another client", { client_name: "A new name", client_id: "another" }],
  ] as const) {
    test(`that doesn't say whether it updated a client, and reads ${what}, is asked again`, async () => {
      const { clientId, management } = await register();
      server.interfere = ({ method }, response, proceed) => {
        if (method === "PUT") return json(response, 500, {});
        return json(response, 200, { ...(proceed().body as object), ...changes });
      };
      const result = await registrar.update(management, clientId, withNewName);
      assert.ok(result.kind === "unknown", JSON.stringify(result));
      assert.match(result.reason, /500/);
      const { token } = server.clients.get(clientId) ?? assert.fail();
      assert.equal(result.management?.token, "client_id" in changes ? undefined : token);
    });
  }

  test("that responds to neither an update nor the read after it is asked again", async () => {
    const { clientId, management } = await register();
    server.interfere = () => true;
    const result = await createRegistrar(server.url, 500).update(management, clientId, withNewName);
    assert.deepEqual(result, { kind: "unknown", reason: "The authorization server: no response in time." });
  });

  test("reads a client with another token, or says that there is none", async () => {
    const { clientId, management } = await register();
    const read = await registrar.read(management, clientId);
    assert.ok(read.kind === "found" && read.management !== undefined);
    assert.equal(read.management.token, server.clients.get(clientId)?.token);
    assert.equal((await registrar.read(management, clientId)).kind, "denied", "the earlier token is no longer valid");
    for (const [status, kind, isFinal] of [
      [404, "denied", undefined],
      [403, "refused", true],
      [503, "refused", false],
      [500, "unknown", undefined],
    ] as const) {
      server.interfere = (_request, response) => json(response, status, {});
      const result = await registrar.read(read.management, clientId);
      assert.equal(result.kind, kind, String(status));
      if (result.kind === "refused") assert.equal(result.isFinal, isFinal, String(status));
    }
    server.interfere = (_request, response) => json(response, 200, { client_id: "another" });
    assert.equal((await registrar.read(read.management, clientId)).kind, "refused");
  });

  test("has the clients at its own origin", () => {
    assert.equal(registrar.isServerOf(`${server.url}/one`), true);
    assert.equal(registrar.isServerOf("https://id.example/register/one"), false);
    assert.equal(createRegistrar("").isServerOf(`${server.url}/one`), false);
  });

  for (const [status, kind, isFinal] of [
    [302, "refused", true],
    [400, "refused", true],
    [401, "refused", true],
    [403, "refused", true],
    [404, "refused", false],
    [429, "refused", false],
    [503, "refused", false],
    [408, "unknown", undefined],
    [500, "unknown", undefined],
    [502, "unknown", undefined],
    [504, "unknown", undefined],
  ] as const) {
    test(`that responds with ${status} to a registration ${kind === "unknown" ? "may have" : "has not"} registered a client`, async () => {
      server.interfere = (_request, response) => json(response, status, { error: "invalid_client_metadata" });
      const result = await registrar.register(metadata);
      assert.equal(result.kind, kind);
      if (result.kind === "refused") assert.equal(result.isFinal, isFinal);
      assert.match("reason" in result ? result.reason : "", new RegExp(`${status}: invalid_client_metadata`));
    });
  }

  test("that describes each error differently is refused for the same reason", async () => {
    const reasons = new Set<string>();
    for (const error_description of ["Trace 4f2a at 09:30:01.", "Trace 77c0 at 10:30:02."]) {
      server.interfere = (_request, response) =>
        json(response, 400, { error: "invalid_redirect_uri", error_description });
      const result = await registrar.register(metadata);
      assert.ok(result.kind === "refused");
      assert.match(result.description ?? "", /^invalid_redirect_uri: Trace/, "for operators");
      reasons.add(result.reason);
    }
    assert.deepEqual([...reasons], ["The authorization server responded with 400: invalid_redirect_uri."]);
    server.interfere = (_request, response) => json(response, 400, { error: "failed at 10:30:02" });
    const result = await registrar.register(metadata);
    assert.equal("reason" in result && result.reason, "The authorization server responded with 400.");
  });

  for (const [what, headers, body, kind] of [
    ["says nothing else", {}, "", "unknown"],
    ["is a proxy's", {}, "upstream connect error or disconnect/reset before headers", "unknown"],
    ["is another service's", {}, { message: "unavailable" }, "unknown"],
    ["says when to try again", { "retry-after": "30" }, "", "refused"],
    ["names the error", {}, { error: "temporarily_unavailable" }, "refused"],
  ] as const) {
    test(`that responds with 503 to a registration, which ${what}, ${kind === "unknown" ? "may have" : "has not"} registered a client`, async () => {
      server.interfere = (_request, response) => {
        response.writeHead(503, headers).end(typeof body === "string" ? body : JSON.stringify(body));
        return true;
      };
      const result = await registrar.register(metadata);
      assert.equal(result.kind, kind);
      if (result.kind === "refused") assert.equal(result.isFinal, false);
    });
  }

  for (const [what, body] of [
    ["nothing", undefined],
    ["a text", "registered!"],
    ["no client_id", { registration_access_token: "x" }],
    ["a client_id that is none", { client_id: "" }],
    ["a client_id of another type", { client_id: 7 }],
    ["a client_id that is too long", { client_id: "x".repeat(3_000) }],
    ["more than it may", { client_id: "one", padding: "x".repeat(100_000) }],
  ] as const) {
    test(`that responds with 201 and ${what} may have registered a client`, async () => {
      server.interfere = (_request, response) => json(response, 201, body);
      assert.equal((await registrar.register(metadata)).kind, "unknown");
    });
  }

  test("that can't be reached has registered nothing", async () => {
    const nowhere = createRegistrar(`http://127.0.0.1:${await freePort()}/register`);
    const result = await nowhere.register(metadata);
    assert.ok(result.kind === "refused" && !result.isFinal, JSON.stringify(result));
    const unnamed = await createRegistrar("https://no-such-host.invalid/register").register(metadata);
    assert.ok(unnamed.kind === "refused" && !unnamed.isFinal, JSON.stringify(unnamed));
    // It speaks no TLS.
    const plain = await createRegistrar(server.url.replace("http:", "https:")).register(metadata);
    assert.ok(plain.kind === "refused" && !plain.isFinal, JSON.stringify(plain));
    assert.equal(server.requests.length, 0);
  });

  test("that doesn't respond in time, or breaks the connection off, may have registered a client", async () => {
    for (const interfere of [
      () => true,
      (_request: unknown, response: ServerResponse) => {
        response.socket?.destroy();
        return true;
      },
      (_request: unknown, response: ServerResponse) => {
        response.writeHead(201, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"client_id":');
        setImmediate(() => response.socket?.destroy());
        return true;
      },
    ]) {
      server.interfere = interfere;
      const result = await createRegistrar(server.url, 1_000).register(metadata);
      assert.equal(result.kind, "unknown", JSON.stringify(result));
    }
  });

  test("that switches to another protocol (101) may have registered a client", async () => {
    const switching = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
      });
    });
    switching.listen(0, "127.0.0.1");
    await once(switching, "listening");
    cleanUp(async () => switching.close());
    const { port } = switching.address() as AddressInfo;
    const result = await createRegistrar(`http://127.0.0.1:${port}/register`, 10_000).register(metadata);
    assert.equal(result.kind, "unknown", JSON.stringify(result));
  });

  for (const [what, changes, reason] of [
    [
      "other redirect URIs than requested",
      { redirect_uris: ["https://app.example/callback", "https://evil.example"] },
      /redirect_uris/,
    ],
    ["more scopes than requested", { scope: `${String(document["scope"])} system/*.cruds` }, /scope/],
    ["fewer scopes than requested", { scope: "launch" }, /scope/],
    [
      "a client with a shared secret",
      { token_endpoint_auth_method: "client_secret_basic" },
      /token_endpoint_auth_method/,
    ],
  ] as const) {
    test(`that registers ${what} is noticed, at an update too`, async () => {
      server.interfere = (_request, response, proceed) => {
        const { status, body } = proceed();
        return json(response, status, { ...(body as object), ...changes });
      };
      const result = await registrar.register(metadata);
      assert.ok(result.kind === "differs" && result.management !== undefined, JSON.stringify(result));
      assert.match(result.reason, reason);
      const updated = await registrar.update(result.management, result.clientId, metadata);
      assert.ok(updated.kind === "differs", JSON.stringify(updated));
      assert.match(updated.reason, reason);
      assert.equal(updated.isSafe, String(reason) === "/scope/");
    });
  }

  test("may name the same scopes in another order, without openid, or not at all", async () => {
    const scopes = String(document["scope"]).split(" ");
    const without = scopes.filter((scope) => scope !== "openid");
    for (const scope of [scopes.toReversed().join(" "), without.join(" "), undefined]) {
      server.interfere = (_request, response, proceed) => {
        const { status, body } = proceed();
        return json(response, status, { ...(body as object), scope });
      };
      assert.equal((await registrar.register(metadata)).kind, "registered");
    }
  });

  test("isn't sent a client's token to another origin", async () => {
    server.interfere = (_request, response, proceed) => {
      const { status, body } = proceed();
      return json(response, status, { ...(body as object), registration_client_uri: "https://evil.example/one" });
    };
    const result = await registrar.register(metadata);
    assert.ok(result.kind === "registered" && result.management === undefined);
  });

  for (const [what, change, isUsable] of [
    ["in capitals", (uri: string) => uri.replace("http:", "HTTP:"), true],
    ["with spaces around it", (uri: string) => ` ${uri} `, true],
    ["of a blob", (uri: string) => `blob:${uri}`, false],
    ["that is too long once it is encoded", (uri: string) => `${uri}?${" x".repeat(900)}`, false],
  ] as const) {
    test(`that names a management URI ${what} ${isUsable ? "is sent updates" : "leaves updates to operators"}`, async () => {
      server.interfere = (_request, response, proceed) => {
        const { status, body } = proceed();
        const { registration_client_uri: uri, ...members } = body as { registration_client_uri: string };
        return json(response, status, { ...members, registration_client_uri: change(uri) });
      };
      const result = await registrar.register(metadata);
      assert.ok(result.kind === "registered", JSON.stringify(result));
      assert.equal(result.management?.uri, isUsable ? `${server.url}/${result.clientId}` : undefined);
      server.interfere = () => false;
      if (result.management !== undefined) {
        assert.deepEqual(await registrar.remove(result.management), { kind: "removed" });
      }
    });
  }

  test("that repeats a token in an error doesn't reveal it", async () => {
    const token = server.environment["CLIENT_REGISTRATION_TOKEN"] ?? "";
    server.interfere = (_request, response) =>
      json(response, 400, { error: `no ${token}\u0000`, error_description: `${"x".repeat(80)} ${"and ".repeat(200)}` });
    const result = await registrar.register(metadata);
    assert.ok(result.kind === "refused" && result.description !== undefined);
    const { reason, description } = result;
    assert.equal(reason, "The authorization server responded with 400.");
    assert.ok(!description.includes(token) && !description.includes("x".repeat(65)), description);
    assert.ok(description.length < 500);
  });

  for (const [what, status, body, isOfServer] of [
    ["401", 401, "", true],
    ["404 in JSON", 404, JSON.stringify({ error: "not_found" }), true],
    ["404 in HTML", 404, "<h1>Not Found</h1>", false],
    ["404 and a JSON text", 404, '"not found"', false],
  ] as const) {
    test(`that responds with ${what} to a removal ${isOfServer ? "denies the client" : "may be behind a proxy that responded"}`, async () => {
      const { management } = await register();
      server.interfere = (_request, response) => {
        response.writeHead(status).end(body);
        return true;
      };
      const result = await registrar.remove(management);
      assert.ok(result.kind === "denied", JSON.stringify(result));
      assert.equal(result.isOfServer, isOfServer);
    });
  }

  test("that can't delete clients makes that an operator's task, and is asked again after other failures", async () => {
    const { management } = await register();
    for (const [status, kind, isFinal] of [
      [405, "refused", true],
      [501, "refused", true],
      [403, "refused", false],
      [503, "refused", false],
      [500, "unknown", undefined],
    ] as const) {
      server.interfere = (_request, response) => json(response, status, {});
      const result = await registrar.remove(management);
      assert.equal(result.kind, kind, String(status));
      if (result.kind === "refused") assert.equal(result.isFinal, isFinal, String(status));
    }
  });
});
