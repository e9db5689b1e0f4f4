import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import {
  askAt,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  connectTo,
  type RunningEhr,
  startCallers,
  startEhr,
} from "@ehr-marketplace/tests/support";
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
    callers = await startCallers(cleanUp);
    ehr = await startEhr(cleanUp, serviceUrl, callers.environment);
  });
  const put = (alias: string, body: unknown): Promise<Response> =>
    askAt(`${ehr.url}/api/admin/organisations/${alias}/secret`, callers.token("operator"), { method: "PUT", body });
  const done = async (status: number, alias: string, body: unknown): Promise<string | null> => {
    const answer = await put(alias, body);
    const said = (await answer.json()) as {
      success: boolean;
      data: { orgAlias: string; previousUntil: string | null };
    };
    assert.equal(answer.status, status, JSON.stringify(said));
    assert.deepEqual([said.success, said.data.orgAlias], [true, alias]);
    return said.data.previousUntil;
  };
  /** Which of the secrets verify: an event that nobody knows changes nothing. */
  const verifying = async (alias: string, secrets: string[]): Promise<string[]> => {
    const good: string[] = [];
    for (const secret of secrets) {
      const body = JSON.stringify({ event: "nothing.happened", subscription: { orgAlias: alias } });
      const answer = await fetch(`${ehr.url}/api/internal/marketplace-webhook`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-marketplace-signature": signBody(body, secret) },
        body,
      });
      if (answer.status === 200) good.push(secret);
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

  test("makes an organisation known: 201, and its events are verified from then on", async () => {
    assert.deepEqual(await verifying("new-clinic", all), []);
    assert.equal(await done(201, "new-clinic", { secret: first }), null);
    assert.deepEqual(await verifying("new-clinic", all), [first]);
  });

  test("the one before verifies for a day; the one before that no longer", async () => {
    await done(201, "changing", { secret: first });
    const until = await done(200, "changing", { secret: second });
    assert.ok(Math.abs(Date.parse(String(until)) - Date.now() - 86_400_000) < 60_000, String(until));
    assert.deepEqual(await verifying("changing", all), [first, second]);
    await done(200, "changing", { secret: third });
    assert.deepEqual(await verifying("changing", all), [second, third]);
  });

  test("the overlap lasts as long as is asked for, and ends", async () => {
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

  test("put twice, because the answer to the first was lost, it keeps the overlap", async () => {
    await done(201, "repeating", { secret: first });
    const until = await done(200, "repeating", { secret: second });
    const row = await rowOf("repeating");
    assert.equal(await done(200, "repeating", { secret: second }), until);
    assert.deepEqual(await rowOf("repeating"), row);
    assert.deepEqual(await verifying("repeating", all), [first, second]);
  });

  test("put again with another overlap, it ends that sooner", async () => {
    await done(201, "leaked", { secret: first });
    await done(200, "leaked", { secret: second });
    assert.equal(await done(200, "leaked", { secret: second, overlapSeconds: 0 }), null);
    assert.deepEqual(await verifying("leaked", all), [second]);
  });

  for (const overlapSeconds of [3_600, undefined]) {
    test(`what has ended stays ended: put again with an overlap of ${overlapSeconds} s, it brings nothing back`, async () => {
      const alias = `ended-${overlapSeconds}`;
      await done(201, alias, { secret: first });
      await done(200, alias, { secret: second });
      await withClient(ownerUrl, (client) =>
        client.query("update organisations set previous_until = now() where alias = $1", [alias]),
      );
      assert.equal(await done(200, alias, { secret: second, overlapSeconds }), null);
      assert.deepEqual(await verifying(alias, all), [second]);
      const { sealed_previous_secret, previous_until } = (await rowOf(alias)) ?? {};
      assert.deepEqual([sealed_previous_secret, previous_until], [null, null]);
    });
  }

  test("put back, the one before is the secret again", async () => {
    await done(201, "back-again", { secret: first });
    await done(200, "back-again", { secret: second });
    await done(200, "back-again", { secret: first, overlapSeconds: 0 });
    assert.deepEqual(await verifying("back-again", all), [first]);
  });

  test("replaces one whose key is lost", async () => {
    await done(201, "lost", { secret: first });
    await withClient(ownerUrl, (client) =>
      client.query("update organisations set sealed_secret = '99.bG9zdA' where alias = 'lost'"),
    );
    assert.equal(await done(200, "lost", { secret: second }), null);
    assert.deepEqual(await verifying("lost", all), [second]);
  });

  test("of many who put one at once, the last is what is in use, and the one before overlaps", async () => {
    const secrets = Array.from({ length: 10 }, () => `secret ${randomUUID()}`);
    const answers = await Promise.all(secrets.map((secret) => put("contested", { secret })));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array<number>(9).fill(200), 201]);
    assert.equal((await verifying("contested", secrets)).length, 2);
  });

  test("neither it nor the one before is in the database in the clear, and neither opens in the other's place", async () => {
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
        "update organisations set sealed_secret = sealed_previous_secret, sealed_previous_secret = sealed_secret where alias = 'hushed'",
      ),
    );
    assert.deepEqual(await verifying("hushed", all), []);
  });

  test("whoever's secret is new or another is held against the marketplace, once, where that is configured", async () => {
    const seal = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
    // Nobody works on the jobs here.
    const keeping = { ...(await connectTo<DB>(cleanUp, serviceUrl)), seal };
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
      await putSecret({ ...keeping, reconciles: true }, actor, "told", { secret });
      assert.equal(await waiting("told"), 1);
      await putSecret({ ...keeping, reconciles: false }, actor, "not-told", { secret });
      assert.equal(await waiting("not-told"), 0);
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
    ["a field that nobody knows", "invalid", { secret: first, until: "tomorrow" }],
  ];
  for (const [what, alias, body] of invalid) {
    test(`400: ${what}`, async () => {
      const answer = await put(alias, body);
      assert.equal(answer.status, 400);
      assert.equal(((await answer.json()) as { success: boolean }).success, false);
      assert.equal(await rowOf(alias), undefined);
    });
  }

  test("only operators put it", async () => {
    for (const who of ["riverside-admin", "ehr-service", "billing", "launch-redeemer"] as const) {
      const url = `${ehr.url}/api/admin/organisations/riverside-clinic/secret`;
      const answer = await askAt(url, callers.token(who), { method: "PUT", body: { secret: first } });
      assert.equal(answer.status, 403);
    }
    const { secret = "" } = demoOrganisations.find(({ alias }) => alias === "riverside-clinic") ?? {};
    assert.deepEqual(await verifying("riverside-clinic", [...all, secret]), [secret]);
  });
});
