import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { endpointSecretOwner, nextSecretOwner } from "./endpoint.ts";
import { registered } from "./register.test-support.ts";

const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
const day = 24 * 3_600_000;

interface Row {
  encrypted_secret: string;
  encrypted_next_secret: string | null;
  promote_at: Date | null;
}

describe("rotating an endpoint's secret", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const post = (id: string, action: string, body?: unknown, key?: string): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `/developer/webhooks/${id}/${action}`, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  const done = async (response: Response): Promise<WebhookEndpointDto> => {
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as WebhookEndpointDto;
  };
  const rowOf = async (id: string): Promise<Row> => {
    const [row] = await query<Row>("select * from webhook_endpoints where id = $1", [id]);
    return row ?? assert.fail("no such endpoint");
  };
  const secretsOf = async (id: string): Promise<[string, string | null]> => {
    const row = await rowOf(id);
    const next =
      row.encrypted_next_secret === null ? null : encryption.decrypt(row.encrypted_next_secret, nextSecretOwner(id));
    return [encryption.decrypt(row.encrypted_secret, endpointSecretOwner(id)), next];
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

  test("adds a next secret, valid with the current one for a day", async () => {
    const id = await fresh();
    const began = Date.now();
    const { rotation, ...rest } = await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    const promotesAt = Date.parse(rotation?.promotesAt ?? "");
    assert.ok(promotesAt >= began + day && promotesAt <= Date.now() + day);
    assert.deepEqual(Object.keys(rotation ?? {}), ["promotesAt"]);
    assert.deepEqual(
      { ...rest, rotation },
      await (await marketplace.requestAs("northwind-developer", `/developer/webhooks/${id}`)).json(),
    );
    assert.deepEqual(await secretsOf(id), ["the first of its secrets", "the second of its secrets"]);
    assert.equal((await rowOf(id)).promote_at?.getTime(), promotesAt);
  });

  test("replaces the next secret when repeated, and restarts the day", async () => {
    const id = await fresh();
    const first = await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    const second = await done(await post(id, "rotate-secret", { secret: "the third of its secrets" }));
    assert.ok((second.rotation?.promotesAt ?? "") > (first.rotation?.promotesAt ?? "x"));
    assert.deepEqual(await secretsOf(id), ["the first of its secrets", "the third of its secrets"]);
  });

  test("ends with promote-secret: the next secret is the current one at once, encrypted for its new owner", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    assert.equal((await done(await post(id, "promote-secret"))).rotation, null);
    assert.deepEqual(await secretsOf(id), ["the second of its secrets", null]);
    assert.equal((await rowOf(id)).promote_at, null);
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
    assert.deepEqual(await actionsOf(id), ["register", "rotate-secret", "promote-secret"]);
  });

  test("ends after a day, also when the secret has not been moved", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    await letTheTimeCome(id);
    const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${id}`);
    assert.equal((await done(response)).rotation, null);
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
  });

  test("keeps the promoted secret when repeated after a day", async () => {
    const id = await fresh();
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    await letTheTimeCome(id);
    await done(await post(id, "rotate-secret", { secret: "the third of its secrets" }));
    assert.deepEqual(await secretsOf(id), ["the second of its secrets", "the third of its secrets"]);
  });

  test("returns 400 at /body/secret for the secret in use, also if it was promoted after a day", async () => {
    const id = await fresh();
    const assertRefused = async (secret: string): Promise<void> => {
      const problem = await assertProblem(await post(id, "rotate-secret", { secret }), 400, "invalid-request");
      assert.deepEqual(
        (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
        ["/body/secret"],
      );
    };
    await assertRefused("the first of its secrets");
    assert.deepEqual(await secretsOf(id), ["the first of its secrets", null]);
    await done(await post(id, "rotate-secret", { secret: "the second of its secrets" }));
    await letTheTimeCome(id);
    await assertRefused("the second of its secrets");
    await done(await post(id, "rotate-secret", { secret: "the first of its secrets" }));
    assert.deepEqual(await secretsOf(id), ["the second of its secrets", "the first of its secrets"]);
  });

  test("returns 409 when there is nothing to promote", async () => {
    const id = await fresh();
    await assertProblem(await post(id, "promote-secret"), 409, "no-rotation");
    assert.deepEqual(await actionsOf(id), ["register"]);
  });

  test("rotates and promotes once per idempotency key", async () => {
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

  test("stores no plain-text secret, and none that decrypts as the other", async () => {
    const id = await fresh();
    const secret = "nobody must ever read this";
    const responses = [await post(id, "rotate-secret", { secret }, "s"), await post(id, "promote-secret")];
    await post(id, "rotate-secret", { secret: "nor must they read that" });
    const shown = (await Promise.all(responses.map((response) => response.text()))).join("");
    const stored: unknown[] = [];
    for (const table of ["webhook_endpoints", "audit_entries", "idempotent_responses"]) {
      stored.push(await query(`select to_json(${table})::text as dump from ${table}`));
    }
    assert.ok(JSON.stringify(stored).includes(id));
    for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
      for (const text of [secret, "nor must they read that"]) {
        const coded = Buffer.from(text).toString(coding).replace(/=+$/, "");
        assert.ok(!JSON.stringify(stored).includes(coded) && !shown.includes(coded), coding);
      }
    }
    const { encrypted_secret, encrypted_next_secret } = await rowOf(id);
    assert.throws(() => encryption.decrypt(encrypted_secret, nextSecretOwner(id)), /belongs to another row/);
    assert.throws(
      () => encryption.decrypt(encrypted_next_secret ?? "", endpointSecretOwner(id)),
      /belongs to another row/,
    );
  });

  for (const [body, pointer] of [
    [{}, "/body/secret"],
    [{ secret: "fifteen letters" }, "/body/secret"],
    [{ secret: "s".repeat(257) }, "/body/secret"],
    [{ secret: "whsec_c2hvcnQgc2VjcmV0" }, "/body/secret"],
    [{ secret: "the second of its secrets", promoteAt: "now" }, "/body/promoteAt"],
  ] as const) {
    test(`returns 400 at ${pointer} for ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const { id } = await registered(marketplace, { by: "lumen-developer" });
      const response = await marketplace.requestAs("lumen-developer", `/developer/webhooks/${id}/rotate-secret`, {
        body,
      });
      const problem = await assertProblem(response, 400, "invalid-request");
      assert.equal((problem["errors"] as { pointer: string }[])[0]?.pointer, pointer);
      assert.equal((await rowOf(id)).encrypted_next_secret, null);
    });
  }
});
