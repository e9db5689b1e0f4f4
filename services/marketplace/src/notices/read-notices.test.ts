import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AuditPage, NoticeDto, NoticePage, NoticeSettingsDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { createConfirmationToken } from "./confirmation-token.ts";
import type { NewNotice } from "./notice.ts";
import { confirmationDigest, unsubscribeDigest } from "./notices.test-support.ts";
import { recordNotice } from "./record-notice.ts";
import { createUnsubscribeToken } from "./unsubscribe-token.ts";

const riverside = "/organisations/riverside-clinic";
const hilltop = "/organisations/hilltop-family-practice";

describe("notices", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  const ids = { riverside: "", hilltop: "", northwind: "", lumen: "" };
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl, { poolSize: 10 });
    const idOf = async (table: string, column: string, name: string): Promise<string> =>
      (await query<{ id: string }>(`select id from ${table} where ${column} = $1`, name))[0]?.id ?? assert.fail(name);
    ids.riverside = await idOf("organisations", "alias", "riverside-clinic");
    ids.hilltop = await idOf("organisations", "alias", "hilltop-family-practice");
    ids.northwind = await idOf("vendors", "slug", "northwind-health");
    ids.lumen = await idOf("vendors", "slug", "lumen-medical");
  });
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const noticeOf = (audience: NewNotice["audience"], changes: Partial<NewNotice> = {}) =>
    ({
      audience,
      kind: "connection-failed",
      severity: "warning",
      subject: "Scribe can't sign in",
      detail: "Read why.",
      link: "/practice/riverside-clinic/subscriptions?open=1",
      key: randomUUID(),
      at: new Date(),
      ...changes,
    }) as NewNotice;
  const record = (notice: NewNotice): Promise<void> =>
    connected.database.transaction().execute((transaction) => recordNotice(transaction, notice));
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const list = (who: Persona, path: string, search = ""): Promise<NoticePage> =>
    json(marketplace.requestAs(who, `${path}/notices?limit=1000${search}`));
  const subjects = async (...given: Parameters<typeof list>): Promise<string[]> =>
    (await list(...given)).items.map(({ subject }) => subject);
  const markRead = (who: Persona, path: string, id: string): Promise<Response> =>
    marketplace.requestAs(who, `${path}/notices/${id}/read`, { method: "POST" });

  test("are recorded once for each key, also by transactions at the same time, and each audience has its own keys", async () => {
    const key = randomUUID();
    const audiences = [{ organisationId: ids.riverside }, { organisationId: ids.hilltop }, "operators"] as const;
    await Promise.all(
      Array.from({ length: 30 }, (_, nth) => record(noticeOf(audiences[nth % 3] ?? "operators", { key }))),
    );
    const rows = await query<{ audience: string }>("select audience from notices where key = $1 order by 1", key);
    assert.equal(rows.length, 3);
  });

  test("of an organisation, a vendor and the operators are seen by nobody else", async () => {
    const marks = {
      riverside: randomUUID(),
      hilltop: randomUUID(),
      northwind: randomUUID(),
      lumen: randomUUID(),
      operators: randomUUID(),
    };
    await record(noticeOf({ organisationId: ids.riverside }, { subject: marks.riverside }));
    await record(noticeOf({ organisationId: ids.hilltop }, { subject: marks.hilltop }));
    await record(noticeOf({ vendorId: ids.northwind }, { subject: marks.northwind }));
    await record(noticeOf({ vendorId: ids.lumen }, { subject: marks.lumen }));
    await record(noticeOf("operators", { subject: marks.operators }));
    const seen = async (who: Persona, path: string): Promise<string[]> => {
      const found = await subjects(who, path);
      return Object.entries(marks)
        .filter(([, mark]) => found.includes(mark))
        .map(([name]) => name);
    };
    assert.deepEqual(await seen("riverside-admin", riverside), ["riverside"]);
    assert.deepEqual(await seen("riverside-member", riverside), ["riverside"]);
    assert.deepEqual(await seen("operator", hilltop), ["hilltop"]);
    assert.deepEqual(await seen("northwind-developer", "/developer"), ["northwind"]);
    assert.deepEqual(await seen("lumen-developer", "/developer"), ["lumen"]);
    assert.deepEqual(await seen("auditor", "/admin"), ["operators"]);
    await assertProblem(await marketplace.requestAs("riverside-admin", `${hilltop}/notices`), 403, "forbidden");
    await assertProblem(await marketplace.requestAs("riverside-admin", "/admin/notices"), 403, "forbidden");

    const { items } = await list("operator", hilltop);
    const ofHilltop = items.find(({ subject }) => subject === marks.hilltop)?.id ?? assert.fail();
    await assertProblem(await markRead("riverside-admin", riverside, ofHilltop), 404, "notice-not-found");
    await assertProblem(await markRead("northwind-developer", "/developer", ofHilltop), 404, "notice-not-found");
    await assertProblem(await markRead("operator", "/admin", ofHilltop), 404, "notice-not-found");
    await assertProblem(
      await marketplace.requestAs("operator", "/organisations/nobody/notices"),
      404,
      "organisation-not-found",
    );
  });

  test("are listed newest first, page by page, and can be marked as read, once", async () => {
    const marks = Array.from({ length: 5 }, (_, nth) => `${nth} ${randomUUID()}`);
    // Two at the same time.
    for (const [nth, subject] of marks.entries()) {
      const at = new Date(Date.UTC(2099, 0, 1) + Math.floor(nth / 2));
      await record(noticeOf({ vendorId: ids.lumen }, { subject, at }));
    }
    const paged: NoticeDto[] = [];
    for (let after = ""; paged.length < 5; ) {
      const page = await json<NoticePage>(
        marketplace.requestAs("lumen-developer", `/developer/notices?limit=2${after}`),
      );
      assertShape("NoticePage", page);
      paged.push(...page.items);
      after = `&after=${page.next}`;
    }
    assert.deepEqual(
      paged
        .slice(0, 5)
        .map(({ subject }) => subject)
        .toSorted(),
      marks,
    );
    assert.deepEqual(paged[0]?.subject, marks[4]);

    const [{ id } = assert.fail(), { subject } = assert.fail()] = paged;
    const read = await json<NoticeDto>(markRead("lumen-developer", "/developer", id));
    assert.ok(read.readAt !== null);
    assert.equal((await json<NoticeDto>(markRead("lumen-developer", "/developer", id))).readAt, read.readAt);
    const unread = await subjects("lumen-developer", "/developer", "&unread=true");
    assert.ok(!unread.includes(read.subject) && unread.includes(subject));
    assert.ok((await subjects("lumen-developer", "/developer")).includes(read.subject));
  });

  test("have settings for each audience, and every change of them is in the audit log", async () => {
    const path = `${riverside}/notice-settings`;
    const put = (who: Persona, at: string, body: object): Promise<Response> =>
      marketplace.requestAs(who, at, { method: "PUT", body });
    const unset = await json<NoticeSettingsDto>(marketplace.requestAs("riverside-member", path));
    assertShape("NoticeSettingsDto", unset);
    assert.deepEqual(unset, { email: null, mutedKinds: [], isConfirmed: false });
    const given = { email: "office@example.com", mutedKinds: ["spend-limit", "app-suspended"] };
    const stored = { ...given, isConfirmed: false };
    assert.deepEqual(await json(put("riverside-admin", path, given)), stored);
    assert.deepEqual(await json(marketplace.requestAs("riverside-member", path)), stored);
    assert.deepEqual(await json(put("riverside-admin", path, given)), stored);
    await assertProblem(await put("riverside-member", path, given), 403, "forbidden");
    const audit = await json<AuditPage>(marketplace.requestAs("operator", `${riverside}/audit`));
    const entries = audit.items.filter(({ action }) => action === "notice-settings.change");
    assert.deepEqual(
      entries.map(({ before: earlier, after, actor }) => [earlier, after, actor.subject]),
      [[unset, stored, "riverside-admin"]],
    );
    assert.deepEqual(await json(marketplace.requestAs("operator", `${hilltop}/notice-settings`)), unset);
    await json(put("northwind-developer", "/developer/notice-settings", { email: "n@example.com", mutedKinds: [] }));
    await json(put("operator", "/admin/notice-settings", { email: "ops@example.com", mutedKinds: [] }));
    assert.deepEqual(await json(marketplace.requestAs("lumen-developer", "/developer/notice-settings")), unset);
  });

  for (const email of [
    "a@example.com, b@example.com",
    "Office <a@example.com>",
    "a@example.com\r\nBcc: b@example.com",
    "a b@example.com",
    "a@",
    "@example.com",
    "",
    `${"a".repeat(250)}@example.com`,
  ]) {
    test(`are not mailed to ${JSON.stringify(email.slice(0, 40))}`, async () => {
      const body = { email, mutedKinds: [] };
      const response = await marketplace.requestAs("riverside-admin", `${riverside}/notice-settings`, {
        method: "PUT",
        body,
      });
      await assertProblem(response, 400, "invalid-request");
    });
  }

  test("are muted by the link of a mail: when it is posted, not when it is opened", async () => {
    const audience = `vendor:${ids.lumen}`;
    const settings = (): Promise<NoticeSettingsDto> =>
      json(marketplace.requestAs("lumen-developer", "/developer/notice-settings"));
    await json(
      marketplace.requestAs("lumen-developer", "/developer/notice-settings", {
        method: "PUT",
        body: { email: "l@example.com", mutedKinds: ["review-decided"] },
      }),
    );
    const token = createUnsubscribeToken(unsubscribeDigest, {
      audience,
      kinds: ["endpoint-held"],
      email: "l@example.com",
    });
    const url = `${marketplace.url}/notices/unsubscribe?token=${token}`;
    const opened = await fetch(url);
    assert.equal(opened.status, 200);
    assert.match(await opened.text(), /failing webhook endpoints[^]*<form method="post">/);
    assert.match(opened.headers.get("content-security-policy") ?? "", /form-action 'self'/);
    assert.deepEqual((await settings()).mutedKinds, ["review-decided"]);
    for (const _ of [1, 2]) {
      const posted = await fetch(url, {
        method: "POST",
        body: "List-Unsubscribe=One-Click",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      assert.equal(posted.status, 200, await posted.text());
    }
    assert.deepEqual((await settings()).mutedKinds.toSorted(), ["endpoint-held", "review-decided"]);
    assert.equal((await settings()).email, "l@example.com");
    const unknown = createUnsubscribeToken(unsubscribeDigest, {
      audience: `vendor:${randomUUID()}`,
      kinds: ["endpoint-held"],
      email: "l@example.com",
    });
    assert.equal(
      (await fetch(`${marketplace.url}/notices/unsubscribe?token=${unknown}`, { method: "POST" })).status,
      200,
    );
    for (const method of ["GET", "POST"]) {
      const forged = await fetch(`${url.slice(0, -3)}AAA`, { method });
      await assertProblem(forged, 404, "unsubscribe-link-invalid");
    }
  });
  test("are not muted by the link of a mail to another address", async () => {
    const put = (email: string | null): Promise<NoticeSettingsDto> =>
      json(
        marketplace.requestAs("riverside-admin", `${riverside}/notice-settings`, {
          method: "PUT",
          body: { email, mutedKinds: [] },
        }),
      );
    const settings = (): Promise<NoticeSettingsDto> =>
      json(marketplace.requestAs("riverside-admin", `${riverside}/notice-settings`));
    const token = createUnsubscribeToken(unsubscribeDigest, {
      audience: `organisation:${ids.riverside}`,
      kinds: ["spend-limit"],
      email: "former@example.com",
    });
    const post = (): Promise<Response> =>
      fetch(`${marketplace.url}/notices/unsubscribe?token=${token}`, { method: "POST" });
    await put("current@example.com");
    await assertProblem(await post(), 404, "unsubscribe-link-invalid");
    assert.deepEqual((await settings()).mutedKinds, []);
    await put(null);
    assert.equal((await post()).status, 200, "nothing is mailed");
    assert.deepEqual(await settings(), { email: null, mutedKinds: [], isConfirmed: false });
  });

  test("are mailed to an address once its link is posted, not when it is opened; that is audited, once", async () => {
    const put = async (email: string | null): Promise<void> => {
      await json(
        marketplace.requestAs("riverside-admin", `${riverside}/notice-settings`, {
          method: "PUT",
          body: { email, mutedKinds: [] },
        }),
      );
    };
    const isConfirmed = async (): Promise<boolean> =>
      (await json<NoticeSettingsDto>(marketplace.requestAs("riverside-member", `${riverside}/notice-settings`)))
        .isConfirmed;
    const email = "confirmed@example.com";
    const audience = `organisation:${ids.riverside}`;
    const linkOf = (changes: { audience?: string; email?: string; expiresAt?: Date } = {}): string => {
      const expiresAt = new Date(Date.now() + 60_000);
      const token = createConfirmationToken(confirmationDigest, { audience, email, expiresAt, ...changes });
      return `${marketplace.url}/notices/confirm?token=${token}`;
    };
    const refuses = async (url: string): Promise<void> =>
      assertProblem(await fetch(url, { method: "POST" }), 404, "confirmation-link-invalid").then(() => undefined);
    await put(email);
    const opened = await fetch(linkOf());
    assert.match(await opened.text(), /Riverside[^]*<form method="post">/);
    assert.equal(await isConfirmed(), false);
    for (const forged of [
      linkOf({ audience: `organisation:${ids.hilltop}` }),
      linkOf({ email: "other@example.com" }),
      linkOf({ expiresAt: new Date() }),
      `${linkOf().slice(0, -3)}AAA`,
    ]) {
      await refuses(forged);
    }
    assert.equal(await isConfirmed(), false);
    const posted = [await fetch(linkOf(), { method: "POST" }), await fetch(linkOf(), { method: "POST" })];
    assert.deepEqual(
      posted.map(({ status }) => status),
      [200, 200],
    );
    assert.equal(await isConfirmed(), true);
    const entries = await query<{ actor_subject: string; on_behalf_of: string; after: object }>(
      "select actor_subject, on_behalf_of, after from audit_entries where request_id = any ($1)",
      posted.map(({ headers }) => headers.get("x-request-id")),
    );
    assert.deepEqual(entries, [
      {
        actor_subject: "confirmation-link",
        on_behalf_of: "riverside-clinic",
        after: { email, mutedKinds: [], isConfirmed: true },
      },
    ]);
    await put("changed@example.com");
    assert.equal(await isConfirmed(), false);
    await refuses(linkOf());
    await put(null);
    await refuses(linkOf());
  });

  for (const [audienceOf, email, role, onBehalfOf] of [
    [() => `organisation:${ids.hilltop}`, "h@example.com", "org-admin", "hilltop-family-practice"],
    [() => `vendor:${ids.northwind}`, "n@example.com", "vendor-developer", "vendor:northwind-health"],
    [() => "operators", "o@example.com", "operator", "marketplace:notices"],
  ] as const) {
    test(`that a link mutes are audited, once, for ${onBehalfOf}`, async () => {
      const audience = audienceOf();
      await query(
        `insert into notice_settings (audience, email, updated_at) values ($1, $2, now())
         on conflict (audience) do update set email = excluded.email, muted_kinds = '{}'`,
        audience,
        email,
      );
      const token = createUnsubscribeToken(unsubscribeDigest, { audience, kinds: ["app-suspended"], email });
      const url = `${marketplace.url}/notices/unsubscribe?token=${token}`;
      const responses = [await fetch(url, { method: "POST" }), await fetch(url, { method: "POST" })];
      const entries = await query(
        `select actor_issuer, actor_subject, actor_role, on_behalf_of, action, before, after from audit_entries
         where request_id = any ($1)`,
        responses.map(({ headers }) => headers.get("x-request-id")),
      );
      assert.deepEqual(entries, [
        {
          actor_issuer: "marketplace",
          actor_subject: "unsubscribe-link",
          actor_role: role,
          on_behalf_of: onBehalfOf,
          action: "notice-settings.change",
          before: { email, mutedKinds: [], isConfirmed: false },
          after: { email, mutedKinds: ["app-suspended"], isConfirmed: false },
        },
      ]);
    });
  }
});
