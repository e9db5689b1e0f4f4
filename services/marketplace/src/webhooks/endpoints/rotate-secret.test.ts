import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import {
  assertProblem,
  cleanUpAfter,
  type PeopledMarketplace,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import { endpointSecretOwner, nextSecretOwner } from "./endpoint.ts";
import { registered } from "./register.test-support.ts";

const seal = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
const day = 24 * 3_600_000;

interface Row {
  sealed_secret: string;
  sealed_next_secret: string | null;
  promote_at: Date | null;
}

describe("rotating an endpoint's secret", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const post = (id: string, action: string, body?: unknown, key?: string): Promise<Response> =>
    marketplace.as("northwind-developer", `/developer/webhooks/${id}/${action}`, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  const done = async (answer: Response): Promise<WebhookEndpointDto> => {
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as WebhookEndpointDto;
  };
  const rowOf = async (id: string): Promise<Row> => {
    const [row] = await query<Row>("select * from webhook_endpoints where id = $1", [id]);
    return row ?? assert.fail("no such endpoint");
  };
  const secretsOf = async (id: string): Promise<[string, string | null]> => {
    const row = await rowOf(id);
    const next = row.sealed_next_secret === null ? null : seal.open(row.sealed_next_secret, nextSecretOwner(id));
    return [seal.open(row.sealed_secret, endpointSecretOwner(id)), next];
  };
  const fresh = async (): Promise<string> =>
    (await registered(marketplace, { body: { secret: "the first of its secrets" } })).id;
  const letTheTimeCome = (id: string): Promise<unknown> =>
    query("update webhook_endpoints set promote_at = now() - interval '1 second' where id = $1", [id]);
  const actionsOf = async (id: string): Promise<unknown[]> => {
    const entries = await query<{ action: string }>(
      "select action from audit_entries where target_id = $1 order by at, id",
      [id],
    );
    return entries.map(({ action }) => action.replace("webhook-endpoint.", ""));
  };

  test("adds a next one beside the current one, for a day", async () => {
    const id = await fresh();
    const began = Date.now();
    const { rotation, ...rest } = await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    const promotesAt = Date.parse(rotation?.promotesAt ?? "");
    assert.ok(promotesAt >= began + day && promotesAt <= Date.now() + day);
    assert.deepEqual(Object.keys(rotation ?? {}), ["promotesAt"]);
    assert.deepEqual(
      { ...rest, rotation },
      await (await marketplace.as("northwind-developer", `/developer/webhooks/${id}`)).json(),
    );
    assert.deepEqual(await secretsOf(id), ["the first of its secrets", "the second of its secrets"]);
    assert.equal((await rowOf(id)).promote_at?.getTime(), promotesAt);
  });

  test("again replaces the next one, and the day begins anew", async () => {
    const id = await fresh();
    const first = await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    const second = await done(await post(id, "rotate-secret", { secret: "the third of its secrets" }));
    assert.ok((second.rotation?.promotesAt ?? "") > (first.rotation?.promotesAt ?? "x"));
    assert.deepEqual(await secretsOf(id), ["the first of its secrets", "the third of its secrets"]);
  });

  test("is over with promote-secret: the next one is the current one at once, sealed for its new place", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    assert.equal((await done(await post(id, "promote-secret"))).rotation, null);
    assert.deepEqual(await secretsOf(id), ["the second of its secrets", null]);
    assert.equal((await rowOf(id)).promote_at, null);
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
    assert.deepEqual(await actionsOf(id), ["register", "rotate-secret", "promote-secret"]);
  });

  test("is over when its time has come, whether or not anybody has moved the secret", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    await letTheTimeCome(id);
    const answer = await marketplace.as("northwind-developer", `/developer/webhooks/${id}`);
    assert.equal((await done(answer)).rotation, null);
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
  });

  test("after its time has come doesn't lose the secret that signs by then", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    await letTheTimeCome(id);
    await done(await post(id, "rotate-secret", { secret: "the third of its secrets" }));
    assert.deepEqual(await secretsOf(id), ["the second of its secrets", "the third of its secrets"]);
  });

  test("409: there is nothing to promote", async () => {
    const id = await fresh();
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
    assert.deepEqual(await actionsOf(id), ["register"]);
  });

  test("is done once per key, and so is promoting", async () => {
    const id = await fresh();
    const body = { secret: "the second of its secrets" };
    const first = await done(await post(id, "rotate-secret", body, "r"));
    assert.deepEqual(await done(await post(id, "rotate-secret", body, "r")), first);
    const other = { secret: "the third of its secrets" };
    await assertProblem(await post(id, "rotate-secret", other, "r"), 422, "idempotency-key-reused");
    const promotion = await done(await post(id, "promote-secret", undefined, "p"));
    assert.deepEqual(await done(await post(id, "promote-secret", undefined, "p")), promotion);
    assert.deepEqual(await actionsOf(id), ["register", "rotate-secret", "promote-secret"]);
  });

  test("leaves no secret in clear, and none that opens in the other's place", async () => {
    const id = await fresh();
    const secret = "nobody must ever read this";
    const answers = [await post(id, "rotate-secret", { secret }, "s"), await post(id, "promote-secret")];
    await post(id, "rotate-secret", { secret: "nor must they read that" });
    const shown = (await Promise.all(answers.map((answer) => answer.text()))).join("");
    const stored: unknown[] = [];
    for (const table of ["webhook_endpoints", "audit_entries", "idempotent_answers"]) {
      stored.push(await query(`select to_json(${table})::text as dump from ${table}`));
    }
    assert.ok(JSON.stringify(stored).includes(id));
    for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
      for (const text of [secret, "nor must they read that"]) {
        const coded = Buffer.from(text).toString(coding).replace(/=+$/, "");
        assert.ok(!JSON.stringify(stored).includes(coded) && !shown.includes(coded), coding);
      }
    }
    const { sealed_secret, sealed_next_secret } = await rowOf(id);
    assert.throws(() => seal.open(sealed_secret, nextSecretOwner(id)), /belongs to another row/);
    assert.throws(() => seal.open(sealed_next_secret ?? "", endpointSecretOwner(id)), /belongs to another row/);
  });

  for (const [body, pointer] of [
    [{}, "/body/secret"],
    [{ secret: "fifteen letters" }, "/body/secret"],
    [{ secret: "s".repeat(257) }, "/body/secret"],
    [{ secret: "whsec_c2hvcnQgc2VjcmV0" }, "/body/secret"],
    [{ secret: "the second of its secrets", promoteAt: "now" }, "/body/promoteAt"],
  ] as const) {
    test(`400 at ${pointer}: ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const { id } = await registered(marketplace, { by: "lumen-developer" });
      const answer = await marketplace.as("lumen-developer", `/developer/webhooks/${id}/rotate-secret`, { body });
      const problem = await assertProblem(answer, 400, "invalid-request");
      assert.equal((problem["errors"] as { pointer: string }[])[0]?.pointer, pointer);
      assert.equal((await rowOf(id)).sealed_next_secret, null);
    });
  }
});
