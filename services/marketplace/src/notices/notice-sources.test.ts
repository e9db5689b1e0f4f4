import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { NoticeDto, NoticePage } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { insertSubscribers, registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { failuresToHold } from "../recipients/recovery-schedule.ts";
import { notifyOfDueReviews } from "../reviews/notify-of-due-reviews.ts";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";
import { runSuspensionWalkStep, runSuspensionWalks } from "../suspensions/notify-of-suspension.ts";
import { pausing, type SuspensionGround, startSuspensionGround } from "../suspensions/suspension.test-support.ts";
import { runScopeWalkStep, runScopeWalks } from "./notify-of-scopes.ts";

const vendor = "northwind-developer";
const riverside = "/organisations/riverside-clinic";

describe("people are told", () => {
  const cleanUp = cleanUpAfter();
  let ground: SuspensionGround;
  let publisher: Publisher<Persona>;
  before(async () => {
    ground = await startSuspensionGround(cleanUp, 3);
    const { url, callers } = ground.marketplace;
    publisher = createPublisher(url, (who) => callers.token(who), vendor);
  });
  const ok = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  /** Newest first, of one kind. */
  const notices = async (who: Persona, path: string, kind: string): Promise<NoticeDto[]> => {
    const page = await ok<NoticePage>(ground.marketplace.requestAs(who, `${path}/notices?limit=1000`));
    return page.items.filter((notice) => notice.kind === kind);
  };
  const told = async (who: Persona, path: string, kind: string): Promise<string[]> =>
    (await notices(who, path, kind)).map(({ subject, severity }) => `${severity}: ${subject}`);
  const inAMinute = () => ({ ...ground.deps, clock: () => new Date(Date.now() + 60_000) });

  test("of a decided review: the vendor, without the reasons", async () => {
    await publisher.create("quill-told", { name: "Quill of strangers" });
    const first = await publisher.submit("quill-told");
    const reasons = [{ pointer: "/name", text: "It is about the patient Jane Doe" }];
    await ok(ground.marketplace.requestAs("operator", `/admin/reviews/${first}/reject`, { body: { reasons } }));
    await publisher.approve(await publisher.submit("quill-told"));
    const [approved, rejected] = await notices(vendor, "/developer", "review-decided");
    assert.equal(rejected?.subject, "Quill of strangers 1.0.0: revision 1 was rejected");
    assert.deepEqual([rejected?.severity, rejected?.link], ["warning", null]);
    assert.deepEqual(
      [approved?.subject, approved?.severity],
      ["Quill of strangers 1.0.0: revision 2 was approved", "info"],
    );
    assert.doesNotMatch(JSON.stringify([approved, rejected]), /Jane/);
  });

  test("of scopes that a publication adds: each organisation that has to agree, in batches", async () => {
    const slug = "quill-scopes";
    await publisher.publish(slug);
    const { id } = await subscribed(ground.marketplace, slug);
    const practices = await registerPractices(ground.marketplace.database.ownerUrl, {
      count: 130,
      callbackUrl: "http://127.0.0.1:9",
      prefix: "scoped",
    });
    await insertSubscribers(ground.marketplace.database.ownerUrl, slug, practices);
    await publisher.edit(slug, { version: "1.0.1" });
    await publisher.approve(await publisher.submit(slug));
    assert.equal(await runScopeWalkStep(inAMinute()), false, "no scope was added");
    await publisher.edit(slug, {
      version: "1.1.0",
      fhirScopes: "openid launch patient/Observation.rs patient/Condition.rs",
      scopePurposes: {
        "patient/Observation.rs": "Shows the last results beside the note",
        "patient/Condition.rs": "Lists the problems beside the note",
      },
    });
    await publisher.approve(await publisher.submit(slug));
    assert.equal(await runScopeWalkStep({ ...ground.deps }), false, "too early");
    const { signal: stopped } = new AbortController();
    await Promise.all([runScopeWalks(inAMinute(), { stopped }), runScopeWalks(inAMinute(), { stopped })]);
    await runScopeWalks(inAMinute(), { stopped });
    const [notice, ...others] = await notices("riverside-member", riverside, "scopes-pending");
    assert.deepEqual([notice?.subject, notice?.severity, others], ["Quill asks for more access", "warning", []]);
    assert.equal(notice?.link, `/practice/riverside-clinic/subscriptions?open=${id}`);
    assert.doesNotMatch(notice?.detail ?? "", /pendingScopes|`/);
    const [{ count } = assert.fail()] = await ground.query<{ count: number }>(
      "select count(*)::int as count from notices where kind = 'scopes-pending'",
    );
    assert.equal(count, 131);
  });

  test("of a suspended app: its vendor, and each organisation whose subscription is paused and resumed", async () => {
    const slug = "northwind-scribe";
    const ids = await ground.subscribe(slug, 3);
    await ground.operate(slug, "suspend", pausing);
    await ground.finish();
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await told(vendor, "/developer", "app-suspended"), [
      "info: Northwind Scribe is reinstated",
      "critical: Northwind Scribe is suspended",
    ]);
    for (const [nth, { alias }] of ground.practices.entries()) {
      assert.deepEqual(await told("operator", `/organisations/${alias}`, "app-suspended"), [
        "info: Northwind Scribe is reinstated, and your subscription is active again",
        "critical: Northwind Scribe is suspended, and your subscription is paused",
      ]);
      const [notice] = await notices("operator", `/organisations/${alias}`, "app-suspended");
      assert.equal(notice?.link, `/practice/${alias}/subscriptions?open=${ids[nth]}`);
      assert.doesNotMatch(JSON.stringify(notice), new RegExp(pausing.reason));
    }
  });

  test("of a suspended app whose subscriptions go on: each organisation that has it, once, in batches, until it is reinstated", async () => {
    const slug = "lumen-schedule";
    const count = 130;
    const practices = await registerPractices(ground.marketplace.database.ownerUrl, {
      count,
      callbackUrl: "http://127.0.0.1:9",
      prefix: "walked",
    });
    await insertSubscribers(ground.marketplace.database.ownerUrl, slug, practices);
    const [{ alias } = assert.fail()] = practices;
    const toldOfIt = (): Promise<string[]> => told("operator", `/organisations/${alias}`, "app-suspended");
    const countTold = async (): Promise<number> => {
      const [{ told: found } = assert.fail()] = await ground.query<{ told: number }>(
        "select count(*)::int as told from notices where subject like 'Lumen Schedule%' and audience like 'organisation:%'",
      );
      return found;
    };
    await ground.operate(slug, "suspend", { reason: "Its page was taken over" });
    assert.equal(await runSuspensionWalkStep(ground.deps), false, "too early");
    assert.equal(await runSuspensionWalkStep(inAMinute()), true);
    assert.equal(await countTold(), 100);
    await ground.operate(slug, "reinstate");
    assert.equal(await runSuspensionWalkStep(inAMinute()), false, "the others need not be told anymore");
    await ground.operate(slug, "suspend", { reason: "Again" });
    const { signal: stopped } = new AbortController();
    await Promise.all([runSuspensionWalks(inAMinute(), { stopped }), runSuspensionWalks(inAMinute(), { stopped })]);
    assert.equal(await countTold(), 100 + count);
    assert.ok((await toldOfIt()).includes("warning: Lumen Schedule is no longer offered; yours keeps working"));
    const toldBefore = await toldOfIt();
    await ground.operate(slug, "suspend", pausing);
    await ground.finish();
    await runSuspensionWalks(inAMinute(), { stopped });
    const isPaused = "critical: Lumen Schedule is suspended, and your subscription is paused";
    assert.deepEqual((await toldOfIt()).toSorted(), [isPaused, ...toldBefore].toSorted());
  });

  test("of a suspension that pauses: also the organisation whose subscription was paused before, and after the others are paused", async () => {
    const slug = "quiet-room";
    const { id } = await subscribed(ground.marketplace, slug);
    await ground.subscribe(slug, 1);
    await ok(
      ground.marketplace.requestAs("riverside-admin", `/subscriptions/${id}/pause`, {
        body: { reason: "ORG_REQUEST" },
      }),
    );
    await ground.operate(slug, "suspend", pausing);
    assert.equal(await runSuspensionWalkStep(inAMinute()), false, "it is pausing");
    await ground.finish();
    await runSuspensionWalks(inAMinute(), { stopped: new AbortController().signal });
    const [notice, ...others] = (await notices("riverside-admin", riverside, "app-suspended")).filter(({ link }) =>
      link?.endsWith(id),
    );
    assert.match(notice?.subject ?? "", /is suspended, and your subscription stays paused$/);
    assert.deepEqual(others, []);
    const alias = ground.practices[0]?.alias;
    assert.match(
      (await told("operator", `/organisations/${alias}`, "app-suspended"))[0] ?? "",
      /subscription is paused$/,
    );
  });

  test("of a pause or resume by somebody else: the organisation, once each; not of its own", async () => {
    const { id } = await subscribed(ground.marketplace, "refill-robin");
    const give = (who: Persona, command: string, reason?: string): Promise<unknown> =>
      ok(
        ground.marketplace.requestAs(who, `/subscriptions/${id}/${command}`, {
          method: "POST",
          ...(reason === undefined ? {} : { body: { reason } }),
        }),
      );
    await give("riverside-admin", "pause", "ORG_REQUEST");
    await give("riverside-admin", "resume");
    assert.deepEqual(await told("riverside-admin", riverside, "subscription-paused"), []);
    await give("billing", "pause", "NON_PAYMENT");
    await give("billing", "pause", "NON_PAYMENT");
    await give("billing", "resume");
    for (const reason of ["OPERATOR_HOLD", "SECURITY", "ORG_REQUEST"]) {
      await give("operator", "pause", reason);
      if (reason !== "ORG_REQUEST") await give("operator", "resume");
    }
    await give("riverside-admin", "resume");
    assert.deepEqual(await told("riverside-member", riverside, "subscription-paused"), [
      "critical: Refill Robin is paused at your practice's request",
      "info: Refill Robin is active again",
      "critical: Refill Robin is paused for security reasons",
      "info: Refill Robin is active again",
      "critical: Refill Robin is paused by the marketplace",
      "info: Refill Robin is active again",
      "critical: Refill Robin is paused: payment overdue",
    ]);
    const [notice] = await notices("riverside-member", riverside, "subscription-paused");
    assert.equal(notice?.link, `/practice/riverside-clinic/subscriptions?open=${id}`);
  });

  test("of a connection that fails: the organisation, once a day, without the EHR's words", async () => {
    const { id } = await subscribed(ground.marketplace, "lab-lantern");
    const report = (body: object): Promise<unknown> =>
      ok(ground.marketplace.requestAs("ehr-service", `/subscriptions/${id}/connection`, { method: "PUT", body }));
    await report({ status: "pending" });
    await report({ status: "failed", reason: "No client for the patient Jane Doe" });
    await report({ status: "failed", reason: "Another reason" });
    await report({ status: "pending" });
    await report({ status: "failed", reason: "No client" });
    const [notice, ...others] = await notices("riverside-admin", riverside, "connection-failed");
    assert.match(notice?.subject ?? "", /can't sign in$/);
    assert.deepEqual([notice?.link, others], [`/practice/riverside-clinic/subscriptions?open=${id}`, []]);
    assert.doesNotMatch(JSON.stringify(notice), /Jane/);
  });

  test("of an endpoint that is held or disabled: its vendor, without the URL's secrets; not of one that was deleted", async () => {
    const [held = "", gone = "", deleted = ""] = (
      await ground.query<{ id: string }>(
        `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
         select mint_uuid(), vendors.id, 'http://127.0.0.1:' || port || '/hooks?key=sesame', '{subscription.paused}', '1.unread', now(), now()
         from vendors, generate_series(1, 3) as port where slug = 'northwind-health' returning id`,
      )
    ).map(({ id }) => id);
    const apply = (id: string, event: Parameters<typeof applyRecipientEvent>[3]): Promise<unknown> =>
      ground.deps.database
        .transaction()
        .execute((transaction) => applyRecipientEvent(transaction, ground.deps.queue, id, event));
    const at = new Date();
    const failed = { type: "delivery-failed", at, isProbe: false, isGone: false } as const;
    for (let nth = 0; nth <= failuresToHold; nth += 1) await apply(held, failed);
    await apply(held, { type: "delivery-succeeded", at, hasCallback: true });
    for (let nth = 0; nth <= failuresToHold; nth += 1) await apply(held, failed);
    await apply(gone, { ...failed, isGone: true });
    await apply(deleted, { type: "deleted", at });
    const [heldNotice, ...moreHeld] = await notices(vendor, "/developer", "endpoint-held");
    const [disabled, ...moreDisabled] = await notices(vendor, "/developer", "endpoint-disabled");
    assert.deepEqual([moreHeld, moreDisabled], [[], []]);
    assert.deepEqual(
      [heldNotice?.subject, heldNotice?.severity, heldNotice?.link],
      ["Webhook endpoint at 127.0.0.1:1 is failing", "warning", null],
    );
    assert.deepEqual(
      [disabled?.subject, disabled?.severity, disabled?.link],
      ["Webhook endpoint at 127.0.0.1:2 is disabled", "critical", null],
    );
    assert.doesNotMatch(JSON.stringify([heldNotice, disabled]), /sesame/);
    assert.deepEqual(await notices("lumen-developer", "/developer", "endpoint-held"), []);
  });

  test("of a submission, of a review that is due in two business days, and of one that is overdue: the operators, once each", async () => {
    await publisher.create("quill-due", { name: "Quill Due" });
    await publisher.submit("quill-due");
    const [submitted] = await notices("operator", "/admin", "review-submitted");
    assert.deepEqual(
      [submitted?.subject, submitted?.severity, submitted?.link],
      ["Quill Due 1.0.0 was submitted for review", "info", null],
    );
    assert.match(
      submitted?.detail ?? "",
      /^Approve or reject revision 1 of \S+ \(vendor \S+\) by \d+ \w+ \d{4} at \d\d:\d\d UTC\.$/,
    );
    const run = (at: Date): Promise<number> => notifyOfDueReviews(ground.deps.database, at);
    await run(new Date());
    assert.deepEqual(await notices("operator", "/admin", "review-due"), []);
    const later = new Date(Date.now() + 13 * 86_400_000);
    await Promise.all([run(later), run(later)]);
    assert.equal(await run(later), 0);
    const ofQuill = async (): Promise<string[]> =>
      (await told("auditor", "/admin", "review-due")).filter((each) => each.includes("Quill Due"));
    const dueSoon = "warning: Quill Due: the review of revision 1 is due soon";
    assert.deepEqual(await ofQuill(), [dueSoon]);
    const overdue = new Date(Date.now() + 20 * 86_400_000);
    await Promise.all([run(overdue), run(overdue)]);
    assert.equal(await run(overdue), 0);
    assert.deepEqual((await ofQuill()).toSorted(), [
      "critical: Quill Due: the review of revision 1 is overdue",
      dueSoon,
    ]);
    await withClient(ground.marketplace.database.ownerUrl, (client) => client.query("delete from notices"));
  });
});
