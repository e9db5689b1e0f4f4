import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribe, subscribed } from "./subscribe.test-support.ts";

const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

describe("an app that requires a business associate agreement", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  const slug = "northwind-scribe";
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const app = async (name: string): Promise<AppDto> =>
    (await (await marketplace.get(`/apps/${name}`)).json()) as AppDto;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    assert.equal((await app(slug)).baaRequired, false);
    await rows("update apps set baa_document_sha256 = $2 where slug = $1", slug, sha256);
  });

  test("says so in the catalog", async () => {
    await eventually("the catalog has it", 15_000, async () => (await app(slug)).baaRequired);
    assert.deepEqual([(await app(slug)).baaSha256, (await app("cuffline")).baaSha256], [sha256, null]);
    assert.equal((await app("cuffline")).baaRequired, false);
  });

  test("is subscribed to only if the agreement is accepted; otherwise nothing is stored", async () => {
    for (const more of [{}, { acceptBaa: false }, { acceptBaa: null }]) {
      const problem = await assertProblem(await subscribe(marketplace, slug, { more }), 422, "baa-required");
      assert.deepEqual(problem["errors"], [
        { pointer: "/body/acceptBaa", detail: "must be true to subscribe to this app; the agreement is at its baaUrl" },
      ]);
    }
    assert.deepEqual(await rows("select from subscriptions"), []);
    assert.deepEqual(await rows("select from events where subscription_id is not null"), []);
    assert.deepEqual(await rows("select from baa_agreements"), []);
  });

  test("an agreement that isn't the one that was shown is not accepted, and nothing is stored", async () => {
    const shown = { acceptBaa: true, baaSha256: "0".repeat(64) };
    const problem = await assertProblem(await subscribe(marketplace, slug, { more: shown }), 409, "baa-changed");
    assert.deepEqual(problem["errors"], [
      { pointer: "/body/baaSha256", detail: "is not the agreement that the app requires now" },
    ]);
    const notAccepted = { baaSha256: sha256 };
    await assertProblem(await subscribe(marketplace, slug, { more: notAccepted }), 422, "baa-required");
    for (const baaSha256 of ["", sha256.toUpperCase(), sha256.slice(1)]) {
      const more = { acceptBaa: true, baaSha256 };
      await assertProblem(await subscribe(marketplace, slug, { more }), 400, "invalid-request");
    }
    assert.deepEqual(await rows("select from subscriptions"), []);
    assert.deepEqual(await rows("select from baa_agreements"), []);
  });

  test("the agreement is recorded with person, time and document, also in the audit log", async () => {
    const { id, createdAt } = await subscribed(marketplace, slug, { more: { acceptBaa: true, baaSha256: sha256 } });
    assert.deepEqual(await rows("select * from baa_agreements"), [
      {
        subscription_id: id,
        document_sha256: sha256,
        issuer: marketplace.callers.identityProvider.issuer,
        subject: "riverside-admin",
        role: "org-admin",
        agreed_at: new Date(createdAt),
      },
    ]);
    const audit = await marketplace.requestAs("riverside-admin", "/organisations/riverside-clinic/audit");
    const [entry] = ((await audit.json()) as AuditPage).items;
    assert.equal(entry?.target.id, id);
    assert.equal((entry.after as { acceptedBaaSha256?: string }).acceptedBaaSha256, sha256);
  });

  test("elsewhere the fields are ignored", async () => {
    for (const [name, more] of [
      ["cuffline", { acceptBaa: true }],
      ["quiet-room", { acceptBaa: false, baaSha256: sha256 }],
    ] as const) {
      const { id } = await subscribed(marketplace, name, { more });
      assert.deepEqual(await rows("select from baa_agreements where subscription_id = $1", id), []);
    }
  });

  test("follows from the document, the audience and the scopes", async () => {
    const required = async (changes: string): Promise<unknown> => {
      const [row] = await rows<{ baa_required: boolean }>(
        `update apps set ${changes} where slug = 'cuffline' returning baa_required`,
      );
      return row?.baa_required;
    };
    assert.equal(await required(`baa_document_sha256 = '${sha256}', fhir_scopes = 'openid user/Patient.rs'`), true);
    assert.equal(await required("audience = 'PATIENT'"), false);
    assert.equal(await required("audience = 'BACKEND', fhir_scopes = 'openid launch'"), false);
    assert.equal(await required("fhir_scopes = 'system/Patient.rs'"), true);
    assert.equal(await required("baa_document_sha256 = null"), false);
  });
});
