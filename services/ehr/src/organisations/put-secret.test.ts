import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { signBody } from "@ehr-marketplace/webhook-signature";
import type { DB } from "../database-schema.ts";
import { putSecret } from "./put-secret.ts";

describe("an organisation's secret", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let callers: Callers;
  let ownerUrl: string;
  let serviceUrl: string;
  before(async () => {
    ({ ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr"));
    callers = await fetchCallers();
    ehr = await startEhr(cleanUp, serviceUrl, callers.environment);
  });
  const put = (alias: string, body: unknown): Promise<Response> =>
    sendRequest(`${ehr.url}/api/admin/organisations/${alias}/secret`, callers.token("operator"), {
      method: "PUT",
      body,
    });
  const done = async (status: number, alias: string, body: unknown): Promise<string | null> => {
    const response = await put(alias, body);
    const said = (await response.json()) as {
      success: boolean;
      data: { orgAlias: string; previousUntil: string | null };
    };
    assert.equal(response.status, status, JSON.stringify(said));
    assert.deepEqual([said.success, said.data.orgAlias], [true, alias]);
    return said.data.previousUntil;
  };
  /** Which of the secrets verify, tested with an unknown event that changes nothing. */
  const verifying = async (alias: string, secrets: string[]): Promise<string[]> => {
    const good: string[] = [];
    for (const secret of secrets) {
      const body = JSON.stringify({ event: "nothing.happened", subscription: { orgAlias: alias } });
      const response = await fetch(`${ehr.url}/api/internal/marketplace-webhook`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-marketplace-signature": signBody(body, secret) },
        body,
      });
      if (response.status === 200) good.push(secret);
    }
    return good;
  };
  const rowOf = (alias: string) =>
    withClient(ownerUrl, async (client) => {
      const found = await client.query<Record<string, unknown>>("select * from organisations where alias = $1", [
        alias,
      ]);
      return found.rows[0];
    });
  const [first, second, third] = ["the first secret", "the second secret", "the third secret"] as const;
  const all = [first, second, third];

  test("creates an organisation with 201, whose events are verified from then on", async () => {
    assert.deepEqual(await verifying("new-clinic", all), []);
    assert.equal(await done(201, "new-clinic", { secret: first }), null);
    assert.deepEqual(await verifying("new-clinic", all), [first]);
  });

  test("keeps the previous secret valid for a day, and no older one", async () => {
    await done(201, "changing", { secret: first });
    const until = await done(200, "changing", { secret: second });
    assert.ok(Math.abs(Date.parse(String(until)) - Date.now() - 86_400_000) < 60_000, String(until));
    assert.deepEqual(await verifying("changing", all), [first, second]);
    await done(200, "changing", { secret: third });
    assert.deepEqual(await verifying("changing", all), [second, third]);
  });

  test("ends the overlap after the requested time", async () => {
    await done(201, "ending", { secret: first });
    await done(200, "ending", { secret: second, overlapSeconds: 60 });
    assert.deepEqual(await verifying("ending", all), [first, second]);
    await withClient(ownerUrl, (client) =>
      client.query("update organisations set previous_until = now() - interval '1 ms' where alias = 'ending'"),
    );
    assert.deepEqual(await verifying("ending", all), [second]);
    assert.equal(await done(200, "ending", { secret: third, overlapSeconds: 0 }), null);
    assert.deepEqual(await verifying("ending", all), [third]);
  });

  test("keeps the overlap when the same secret is set again after a lost response", async () => {
    await done(201, "repeating", { secret: first });
    const until = await done(200, "repeating", { secret: second });
    const row = await rowOf("repeating");
    assert.equal(await done(200, "repeating", { secret: second }), until);
    assert.deepEqual(await rowOf("repeating"), row);
    assert.deepEqual(await verifying("repeating", all), [first, second]);
  });

  test("changes the end of the overlap when the same secret is set again with another one", async () => {
    await done(201, "leaked", { secret: first });
    await done(200, "leaked", { secret: second });
    assert.equal(await done(200, "leaked", { secret: second, overlapSeconds: 0 }), null);
    assert.deepEqual(await verifying("leaked", all), [second]);
  });

  for (const overlapSeconds of [3_600, undefined]) {
    test(`doesn't extend an overlap that has ended with ${overlapSeconds} s`, async () => {
      const alias = `ended-${overlapSeconds}`;
      await done(201, alias, { secret: first });
      await done(200, alias, { secret: second });
      await withClient(ownerUrl, (client) =>
        client.query("update organisations set previous_until = now() where alias = $1", [alias]),
      );
      assert.equal(await done(200, alias, { secret: second, overlapSeconds }), null);
      assert.deepEqual(await verifying(alias, all), [second]);
      const { encrypted_previous_secret, previous_until } = (await rowOf(alias)) ?? {};
      assert.deepEqual([encrypted_previous_secret, previous_until], [null, null]);
    });
  }

  test("restores the previous secret", async () => {
    await done(201, "back-again", { secret: first });
    await done(200, "back-again", { secret: second });
    await done(200, "back-again", { secret: first, overlapSeconds: 0 });
    assert.deepEqual(await verifying("back-again", all), [first]);
  });

  test("replaces a secret whose key is lost", async () => {
    await done(201, "lost", { secret: first });
    await withClient(ownerUrl, (client) =>
      client.query("update organisations set encrypted_secret = '99.bG9zdA' where alias = 'lost'"),
    );
    assert.equal(await done(200, "lost", { secret: second }), null);
    assert.deepEqual(await verifying("lost", all), [second]);
  });

  test("uses the last of many concurrent secrets, with the one before as previous", async () => {
    const secrets = Array.from({ length: 10 }, () => `secret ${randomUUID()}`);
    const responses = await Promise.all(secrets.map((secret) => put("contested", { secret })));
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array<number>(9).fill(200), 201]);
    assert.equal((await verifying("contested", secrets)).length, 2);
  });

  test("encrypts both secrets, and neither can be decrypted in the other's column", async () => {
    await done(201, "hushed", { secret: first });
    await done(200, "hushed", { secret: second });
    const row = JSON.stringify(await rowOf("hushed"));
    for (const secret of [first, second]) {
      for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
        assert.ok(!row.includes(Buffer.from(secret).toString(coding).replace(/=+$/, "")));
      }
    }
    await withClient(ownerUrl, (client) =>
      client.query(
        "update organisations set encrypted_secret = encrypted_previous_secret, encrypted_previous_secret = encrypted_secret where alias = 'hushed'",
      ),
    );
    assert.deepEqual(await verifying("hushed", all), []);
  });

  test("requests one reconciliation for a new or changed secret, if configured", async () => {
    const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
    // No worker runs the jobs here.
    const deps = { ...(await connectAsService<DB>(cleanUp, serviceUrl)), encryption };
    const waiting = (alias: string) =>
      withClient(ownerUrl, async (client) => {
        const found = await client.query(
          "select data from pgboss.job where name = 'reconciliations' and data ->> 'alias' = $1",
          [alias],
        );
        return found.rowCount;
      });
    const actor = { issuer: "https://id.example", subject: "operator", role: "operator", requestId: "r" } as const;
    for (const secret of [first, second]) {
      await putSecret({ ...deps, reconciles: true }, actor, "reconciled", { secret });
      assert.equal(await waiting("reconciled"), 1);
      await putSecret({ ...deps, reconciles: false }, actor, "not-reconciled", { secret });
      assert.equal(await waiting("not-reconciled"), 0);
    }
  });

  const invalid: [string, string, unknown][] = [
    ["an alias that is none", "-none", { secret: first }],
    ["no secret", "invalid", {}],
    ["a short secret", "invalid", { secret: "fifteen letters" }],
    ["a long secret", "invalid", { secret: "s".repeat(257) }],
    ["a secret with NUL", "invalid", { secret: `${first}\0` }],
    ["a secret that Standard Webhooks can't decode", "invalid", { secret: "whsec_this is no Base64" }],
    ["an overlap of more than a week", "invalid", { secret: first, overlapSeconds: 604_801 }],
    ["an overlap before now", "invalid", { secret: first, overlapSeconds: -1 }],
    ["an unknown field", "invalid", { secret: first, until: "tomorrow" }],
  ];
  for (const [what, alias, body] of invalid) {
    test(`400: ${what}`, async () => {
      const response = await put(alias, body);
      assert.equal(response.status, 400);
      assert.equal(((await response.json()) as { success: boolean }).success, false);
      assert.equal(await rowOf(alias), undefined);
    });
  }

  test("allows only operators", async () => {
    for (const who of ["riverside-admin", "ehr-service", "billing", "launch-redeemer"] as const) {
      const url = `${ehr.url}/api/admin/organisations/riverside-clinic/secret`;
      const response = await sendRequest(url, callers.token(who), { method: "PUT", body: { secret: first } });
      assert.equal(response.status, 403);
    }
    const { secret = "" } = demoOrganisations.find(({ alias }) => alias === "riverside-clinic") ?? {};
    assert.deepEqual(await verifying("riverside-clinic", [...all, secret]), [secret]);
  });
});
