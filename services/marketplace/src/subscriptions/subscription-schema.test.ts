import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "./subscribe.test-support.ts";

const denied = /permission denied/;

describe("the service's login can't", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  const ids: Record<string, string> = {};
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const change = async (id: string, what: string, body?: object): Promise<void> => {
      const response = await marketplace.requestAs("operator", `/subscriptions/${id}/${what}`, {
        method: "POST",
        body,
      });
      assert.equal(response.status, 200);
    };
    for (const [state, slug] of [
      ["active", "lumen-schedule"],
      ["paused", "inbox-heron"],
      ["cancelled", "lab-lantern"],
      ["blocked", "cuffline"],
    ] as const) {
      const { id } = await subscribed(marketplace, slug);
      ids[state] = id;
      if (state === "paused" || state === "blocked") await change(id, "pause", { reason: "SECURITY" });
      if (state === "cancelled" || state === "blocked") await change(id, "cancel");
    }
  });
  const tick = "updated_at = updated_at + interval '1 second'";
  const paused = "status = 'paused', pause_reason = 'SECURITY', paused_at = now()";
  const copyOf = (state: string, { plan = "pricing_plan_id", trial = "null" } = {}): string => `
    insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, trial_ends_at, created_at, updated_at, revision)
    select gen_random_uuid(), organisation_id, app_id, ${plan}, 'active', ${trial}, now(), now(), 1
    from subscriptions where id = :${state}`;

  const refused: [string, string, RegExp][] = [
    [
      "change to a plan that the app doesn't have",
      "update subscriptions set pricing_plan_id = gen_random_uuid(), revision = revision + 1, updated_at = updated_at + interval '1 s' where status <> 'cancelled'",
      /subscriptions_plan_belongs_to_app/,
    ],
    ["change the organisation", "update subscriptions set organisation_id = gen_random_uuid()", denied],
    ["change the app", "update subscriptions set app_id = gen_random_uuid()", denied],
    ["change the quantity without a revision", "update subscriptions set quantity = 2", /revision must increase/],
    [
      "begin or prolong a trial",
      `update subscriptions set trial_ends_at = now() + interval '1 year', ${tick} where id = :active`,
      /a trial ends earlier only/,
    ],
    ["change when it was created", "update subscriptions set created_at = now()", denied],
    ["delete a subscription", "delete from subscriptions", denied],
    ["truncate subscriptions", "truncate subscriptions cascade", denied],
    [
      "revive a cancelled one",
      `update subscriptions set status = 'active', cancelled_at = null, revision = revision + 1, ${tick} where id = :cancelled`,
      /stays cancelled/,
    ],
    [
      "revive a blocking one",
      `update subscriptions set ${paused}, block_reason = null, cancelled_at = null, revision = revision + 1, ${tick} where id = :blocked`,
      /stays cancelled/,
    ],
    [
      "block afterwards",
      `update subscriptions set block_reason = 'SECURITY', ${tick} where id = :cancelled`,
      /stays cancelled/,
    ],
    [
      "change what a block is for",
      `update subscriptions set block_reason = 'NON_PAYMENT', ${tick} where id = :blocked`,
      /stays cancelled/,
    ],
    [
      "cancel a second time",
      `update subscriptions set cancelled_at = now() + interval '1 day', ${tick} where id = :cancelled`,
      /stays cancelled/,
    ],
    [
      "block one that is live",
      `update subscriptions set block_reason = 'SECURITY', ${tick} where id = :active`,
      /subscriptions_block_requires_cancellation/,
    ],
    [
      "change what a pause is for",
      `update subscriptions set pause_reason = 'NON_PAYMENT', ${tick} where id = :paused`,
      /pause reason of a paused subscription can.t change/,
    ],
    [
      "pause without an event",
      `update subscriptions set ${paused}, ${tick} where id = :active`,
      /revision must increase by one/,
    ],
    [
      "count an event that there was not",
      `update subscriptions set revision = revision + 1, ${tick} where id = :active`,
      /revision must increase by one/,
    ],
    [
      "pause without a reason",
      `update subscriptions set status = 'paused', paused_at = now(), revision = revision + 1, ${tick} where id = :active`,
      /subscriptions_pause_reason_required/,
    ],
    [
      "cancel without a time",
      `update subscriptions set status = 'cancelled', revision = revision + 1, ${tick} where id = :active`,
      /subscriptions_cancelled_at_required/,
    ],
    [
      "keep updated_at unchanged",
      "update subscriptions set updated_at = updated_at where id = :active",
      /updated_at must increase/,
    ],
    [
      "go back in time",
      "update subscriptions set updated_at = updated_at - interval '1 ms' where id = :active",
      /updated_at must increase/,
    ],
    ["add a second live one", copyOf("active"), /subscriptions_one_live_or_blocking/],
    ["add a second while one is paused", copyOf("paused"), /subscriptions_one_live_or_blocking/],
    ["add one behind a block", copyOf("blocked"), /subscriptions_one_live_or_blocking/],
    [
      "give a plan of another app",
      copyOf("cancelled", { plan: "(select pricing_plan_id from subscriptions where id = :active)" }),
      /subscriptions_plan_belongs_to_app/,
    ],
    ["give a second trial", copyOf("cancelled", { trial: "now() + interval '1 day'" }), /subscriptions_one_trial/],
    [
      "agree without an agreement",
      `update subscriptions set fhir_scopes = 'system/*.cruds', revision = revision + 1, ${tick} where id = :active`,
      /nobody has agreed/,
    ],
    [
      "agree to other scopes than the agreement has",
      `insert into scope_agreements select id, revision + 1, 'launch', 'issuer', 'subject', now() from subscriptions where id = :active;
       update subscriptions set fhir_scopes = 'system/*.cruds', revision = revision + 1, ${tick} where id = :active`,
      /nobody has agreed/,
    ],
    [
      "agree without counting an event",
      `insert into scope_agreements select id, revision + 1, 'launch', 'issuer', 'subject', now() from subscriptions where id = :active;
       update subscriptions set fhir_scopes = 'launch', ${tick} where id = :active`,
      /revision must increase by one/,
    ],
    [
      "record an agreement without an event",
      `insert into scope_agreements select id, revision + 1, 'launch', 'issuer', 'subject', now() from subscriptions where id = :active;
       set constraints all immediate`,
      /scope_agreements_have_events/,
    ],
    [
      "agree after cancelling",
      `insert into scope_agreements select id, revision + 1, 'launch', 'issuer', 'subject', now() from subscriptions where id = :cancelled;
       update subscriptions set fhir_scopes = 'launch', revision = revision + 1, ${tick} where id = :cancelled`,
      /stays cancelled/,
    ],
    ["rewrite an agreement to scopes", "update scope_agreements set subject = 'nobody'", denied],
    ["delete an agreement to scopes", "delete from scope_agreements", denied],
    ["truncate agreements to scopes", "truncate scope_agreements", denied],
    ["rewrite an accepted BAA", "update baa_agreements set document_sha256 = repeat('0', 64)", denied],
    ["delete an accepted BAA", "delete from baa_agreements", denied],
    ["lift the requirement of a BAA", "update apps set baa_document_sha256 = null", denied],
    ["rewrite an event", "update events set payload = '{}'", denied],
    ["delete an event", "delete from events", denied],
    ["truncate events", "truncate events", denied],
    [
      "add a second event with the same sequence",
      "insert into events select gen_random_uuid(), event, subscription_id, sequence, occurred_at, payload from events",
      /events_subscription_id_sequence_key/,
    ],
    ["rewrite the audit log", "update audit_entries set actor_subject = 'nobody'", denied],
    ["delete from the audit log", "delete from audit_entries", denied],
    ["truncate the audit log", "truncate audit_entries", denied],
    ["delete an organisation", "delete from organisations", denied],
    ["rename an organisation", "update organisations set alias = 'other'", denied],
    ["backdate an organisation", "update organisations set created_at = now()", denied],
    ["disable a guard", "alter table subscriptions disable trigger all", /must be owner/],
    ["skip the guards", "set session_replication_role = replica", denied],
  ];
  for (const [what, statement, refusal] of refused) {
    test(what, async () => {
      const filled = statement.replaceAll(
        /:(active|paused|cancelled|blocked)/g,
        (_, state: string) => `'${ids[state]}'`,
      );
      await withClient(marketplace.database.serviceUrl, async (client) => {
        await client.query("begin");
        await assert.rejects(client.query(filled), refusal);
      });
    });
  }

  for (const statement of ["update scope_agreements set subject = 'nobody'", "delete from baa_agreements"]) {
    test(`nor can the owner: ${statement}`, async () => {
      await withClient(marketplace.database.ownerUrl, (client) =>
        assert.rejects(client.query(statement), /never changed or deleted/),
      );
    });
  }

  for (const statement of [
    "update audit_entries set actor_subject = 'nobody'",
    "delete from audit_entries",
    "truncate audit_entries",
  ]) {
    test(`nor can the owner: ${statement}`, async () => {
      await withClient(marketplace.database.ownerUrl, (client) =>
        assert.rejects(client.query(statement), /append-only/),
      );
    });
  }
});
