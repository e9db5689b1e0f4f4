import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { OrganisationDto, SubscriptionDto, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { dumpDatabase } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, type RequestOptions, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

/** Returns the forms of a secret in clear text, in hex, and at each alignment within Base64. */
function encodingsOf(secret: string): string[] {
  const decoded = secret.startsWith("whsec_") ? [Buffer.from(secret.slice(6), "base64")] : [];
  return [Buffer.from(secret), ...decoded].flatMap((bytes) => {
    const inBase64 = [0, 1, 2].flatMap((before) => {
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
      // The characters at either end also encode bits of neighbouring bytes.
      const inside = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
      return [inside, inside.replaceAll("-", "+").replaceAll("_", "/")];
    });
    return [bytes.toString("latin1"), bytes.toString("hex"), bytes.toString("hex").toUpperCase(), ...inBase64];
  });
}
const ehrPath = "/api/internal/marketplace-webhook";
const foundIn = (text: string, secrets: string[]): string[] =>
  secrets.filter((secret) => encodingsOf(secret).some((encoded) => text.includes(encoded)));

test("a secret is found in clear text, and in hex or Base64 of a text that contains it", () => {
  const secret = "shared with nobody";
  for (const before of ["", "a", "ab"]) {
    const text = Buffer.from(`${before}${secret}, and more`);
    for (const encoding of ["utf8", "hex", "base64", "base64url"] as const) {
      assert.deepEqual(foundIn(text.toString(encoding), [secret, "another one"]), [secret], encoding);
    }
  }
});

test("no database dump contains a secret, and no log contains a secret or a token", async (t) => {
  const cleanUp = cleanUpAfter(t);
  // pg_dump can't dump a newer server, and the newest PostgreSQL comes without pg_dump.
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo", { postgres: "oldest" });
  const callers = await fetchCallers();
  const metricsToken = `metrics-${randomBytes(16).toString("hex")}`;
  const environment = { ...callers.environment, LOG_LEVEL: "trace", METRICS_TOKEN: metricsToken };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  const worker = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const receiver = await startReceiver(cleanUp);
  receiver.respond = ({ path }, response) => response.writeHead(path === "/failing" ? 500 : 204).end("no");

  const tokens = [callers.token("operator"), callers.token("northwind-developer"), metricsToken];
  const secrets: string[] = [];
  const newSecret = (prefix = "whsec_"): string => {
    const secret = `${prefix}${randomBytes(24).toString("base64")}`;
    secrets.push(secret);
    return secret;
  };
  let requestCount = 0;
  const send = async <T>(
    status: number,
    who: "operator" | "northwind-developer",
    path: string,
    options: RequestOptions,
  ) => {
    const headers = { "idempotency-key": `key ${(requestCount += 1)}` };
    const response = await sendApiRequest(api.url, path, callers.token(who), { method: "POST", headers, ...options });
    assert.equal(response.status, status, await response.clone().text());
    return (await response.json()) as T;
  };
  const registerOrganisation = (alias: string, secret?: string): Promise<OrganisationDto> => {
    const callback = { callbackUrl: receiver.url, callbackNetworks: ["127.0.0.0/8"] };
    const body = { displayName: alias, ...callback, ...(secret === undefined ? {} : { secret }) };
    return send(201, "operator", `/admin/organisations/${alias}`, { method: "PUT", body });
  };
  const hooks = "/developer/webhooks";
  const registration = (path: string, secret: string): object => {
    const events = ["subscription.created", "subscription.paused", "subscription.cancelled"];
    return { url: `${receiver.url}${path}`, secret, events };
  };
  const register = (path: string, secret: string, status = 201): Promise<WebhookEndpointDto> =>
    send(status, "northwind-developer", hooks, { body: registration(path, secret) });
  const countReceived = (path: string): number => receiver.received.filter((each) => each.path === path).length;

  await registerOrganisation("with-its-secret", newSecret("of the practice: "));
  secrets.push((await registerOrganisation("with-a-made-secret")).secret ?? assert.fail("the response has a secret"));
  const { id } = await register("/fine", newSecret());
  await register("/failing", newSecret("of the vendor: "));
  for (const action of ["rotate-secret", "promote-secret", "rotate-secret"]) {
    const body = action === "rotate-secret" ? { body: { secret: newSecret() } } : {};
    await send(200, "northwind-developer", `${hooks}/${id}/${action}`, body);
  }
  const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
    id: string;
  }[];
  for (const orgAlias of ["with-its-secret", "with-a-made-secret"]) {
    const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan?.id };
    const subscription = await send<SubscriptionDto>(201, "operator", "/subscriptions", { body });
    await send(200, "operator", `/subscriptions/${subscription.id}/cancel`, {});
  }
  const hasReceivedAll = (): boolean =>
    countReceived("/fine") === 4 && countReceived(ehrPath) === 4 && countReceived("/failing") >= 2;
  await eventually("deliveries arrive and others fail", 30_000, hasReceivedAll);

  // Invalid requests of every kind whose error could repeat the input.
  secrets.push(randomBytes(7).toString("hex"));
  await register("/fine", secrets.at(-1) ?? "", 400);
  await register("nowhere", newSecret(), 422);
  const unknown = { ...registration("/fine", newSecret()), [newSecret()]: newSecret(), signingSecret: newSecret() };
  await send(400, "northwind-developer", hooks, { body: unknown });
  await send(400, "northwind-developer", `${hooks}?secret=${encodeURIComponent(newSecret())}`, { body: {} });
  const developer = { authorization: `Bearer ${tokens[1]}`, "content-type": "application/json" };
  const broken = `{ "secret": "${newSecret()}" "url": `;
  assert.equal(
    (await fetch(`${api.url}/api/v1${hooks}`, { method: "POST", headers: developer, body: broken })).status,
    400,
  );
  const forged = `${tokens[0]?.slice(0, -8)}forged00`;
  assert.equal((await sendApiRequest(api.url, hooks, forged)).status, 401);
  tokens.push(forged);
  assert.equal(
    (await fetch(`${worker.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).status,
    200,
  );
  await withClient(ownerUrl, (client) => client.query("alter table webhook_endpoints rename to elsewhere"));
  await register("/fine", newSecret(), 500);
  await withClient(ownerUrl, (client) => client.query("alter table elsewhere rename to webhook_endpoints"));

  const dump = await dumpDatabase(ownerUrl);
  for (const known of [`${receiver.url}/failing`, "with-a-made-secret", "subscription.cancelled", "answered 500"]) {
    assert.ok(foundIn(dump, [known]).length === 1, `the dump contains data: ${known}`);
  }
  const [, key = ""] = developmentEncryptionKeys.split(":");
  assert.deepEqual(foundIn(dump, [...secrets, ...tokens, key]), []);

  const lines = (): string => [...api.logEntries, ...worker.logEntries].map((line) => JSON.stringify(line)).join("\n");
  for (const known of ["/rotate-secret", '"level":"error"', '"status":500', "marketplace-worker"]) {
    await eventually(`the log contains: ${known}`, 30_000, () => lines().includes(known));
  }
  const log = lines();
  assert.deepEqual(foundIn(log, [...secrets, ...tokens, key]), []);
  assert.doesNotMatch(log, /Bearer [\w-]|eyJ[\w-]{10}/);
  t.diagnostic(
    `${secrets.length} secrets and ${tokens.length} tokens: none in a dump of ${dump.length} characters, none in ` +
      `${api.logEntries.length + worker.logEntries.length} lines of the log`,
  );
});
