import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import type { NoticeKind } from "@ehr-marketplace/contracts";
import type { Problem } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { readConfirmationToken } from "./confirmation-token.ts";
import { deleteOldNotices } from "./delete-old-notices.ts";
import { leaseMs } from "./mail-schedule.ts";
import { isSentTo } from "./mail-token.ts";
import type { NewNotice } from "./notice.ts";
import { putNoticeSettings } from "./notice-settings.ts";
import {
  confirmationDigest,
  headerOf,
  type MailServer,
  mailerTo,
  startMailServer,
  unsubscribeDigest,
} from "./notices.test-support.ts";
import { recordNotice, recordNotices } from "./record-notice.ts";
import { createMailSender } from "./run-due-mails.ts";
import type { Mailer } from "./send-mail.ts";
import { readUnsubscribeToken } from "./unsubscribe-token.ts";

const publicUrl = "https://marketplace.example";
const webUrl = "https://apps.example";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("mails about notices", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let ownerUrl: string;
  let server: MailServer;
  let now: Date;
  before(async () => {
    const database = await cloneDatabase(cleanUp);
    ownerUrl = database.ownerUrl;
    connected = await connectAsService<DB>(cleanUp, database.serviceUrl, { poolSize: 10 });
    server = await startMailServer(cleanUp);
  });
  beforeEach(async () => {
    await query("truncate notices, notice_mails, notice_settings");
    server.received.length = 0;
    server.refuseWith = undefined;
    now = new Date("2026-03-18T09:00:00.000Z");
  });

  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const results: string[] = [];
  /** Of a worker of its own: it knows nothing of earlier failures. */
  const senderWith = (mailer: Mailer, web = webUrl): (() => Promise<void>) =>
    createMailSender({
      ...connected,
      publicUrl,
      webUrl: web === "" ? undefined : web,
      digest: unsubscribeDigest,
      confirmationDigest,
      mailer,
      clock: () => now,
      stopped: new AbortController().signal,
      onAttempt: (result) => results.push(result),
    });
  const send = (): Promise<void> => senderWith(mailerTo(server.port))();
  const advance = (ms: number): void => {
    now = new Date(now.getTime() + ms);
  };
  const setEmail = (audience: string, email: string, muted: NoticeKind[] = []): Promise<unknown> =>
    query(
      `insert into notice_settings (audience, email, confirmed_email, muted_kinds, updated_at) values ($1, $2, $2, $3, now())
       on conflict (audience) do update set email = excluded.email, confirmed_email = excluded.email,
         muted_kinds = excluded.muted_kinds`,
      audience,
      email,
      muted,
    );
  const newAudience = async (email = "office@example.com") => {
    const organisationId = randomUUID();
    await setEmail(`organisation:${organisationId}`, email);
    return { organisationId };
  };
  const noticeOf = (audience: NewNotice["audience"], changes: Partial<NewNotice> = {}) =>
    ({
      audience,
      kind: "app-suspended",
      severity: "critical",
      subject: "Quill is suspended",
      detail: "Wait.",
      link: "/practice/a/subscriptions?open=1",
      key: randomUUID(),
      at: now,
      ...changes,
    }) as NewNotice;
  const record = (...notices: NewNotice[]): Promise<void> =>
    connected.database.transaction().execute((transaction) => recordNotices(transaction, notices));
  const outcomes = async (): Promise<(string | null)[]> =>
    (await query<{ outcome: string | null }>("select outcome from notice_mails order by created_at, id")).map(
      ({ outcome }) => outcome,
    );

  test("a warning is mailed at once, once, as plain text with a link and a way to unsubscribe", async () => {
    const audience = await newAudience();
    const notice = noticeOf(audience, { severity: "warning" });
    await record(notice);
    await Promise.all([send(), send(), send()]);
    await record({ ...notice, subject: "The same key" });
    advance(dayMs);
    await send();
    assert.equal(server.received.length, 1);
    const [mail] = server.received;
    const [{ id } = assert.fail()] = await query<{ id: string }>("select id from notices");
    assert.deepEqual(mail?.to, ["office@example.com"]);
    assert.equal(headerOf(mail, "Message-ID"), `<${id}@marketplace.example>`);
    assert.equal(headerOf(mail, "Subject"), "Quill is suspended");
    assert.equal(headerOf(mail, "From"), "EHR Marketplace <notices@marketplace.example>");
    assert.match(headerOf(mail, "Content-Type") ?? "", /^text\/plain/);
    assert.equal(headerOf(mail, "Auto-Submitted"), "auto-generated");
    assert.equal(headerOf(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert.ok(
      mail?.text.startsWith(`Quill is suspended\nWait.\n${webUrl}/practice/a/subscriptions?open=1\n`),
      mail?.text,
    );
    const link = new URL((headerOf(mail, "List-Unsubscribe") ?? "").replace(/^<|>$/g, ""));
    assert.equal(link.origin + link.pathname, `${publicUrl}/notices/unsubscribe`);
    const muted = readUnsubscribeToken(unsubscribeDigest, link.searchParams.get("token") ?? "") ?? assert.fail();
    assert.equal(muted.audience, `organisation:${audience.organisationId}`);
    assert.deepEqual(muted.kinds, ["app-suspended"]);
    assert.ok(isSentTo(unsubscribeDigest, muted, "office@example.com"));
    assert.ok(mail.text.includes(link.href), "the link is in the text, too");
  });

  for (const [what, link, web] of [
    ["there is no page for it", null, webUrl],
    ["a process of the previous version has recorded it", "/api/v1/subscriptions/1", webUrl],
    ["no web runs", "/practice/a/subscriptions?open=1", ""],
  ] as const) {
    test(`a notice is mailed without a link if ${what}`, async () => {
      await record(noticeOf(await newAudience(), { link }));
      await senderWith(mailerTo(server.port), web)();
      assert.match(server.received[0]?.text ?? "", /^Quill is suspended\nWait\.\n\n--\n/);
    });
  }

  const put = (audience: string, email: string, mutedKinds: NoticeKind[] = []): Promise<unknown> =>
    putNoticeSettings(
      { ...connected, clock: () => now },
      {
        caller: { issuer: "test", subject: "admin", roles: new Set() },
        requestId: randomUUID(),
        role: "org-admin",
      } as never,
      { key: audience, onBehalfOf: "a-clinic" },
      { email, mutedKinds },
    );
  const newKey = (): string => `organisation:${randomUUID()}`;

  const isTooMany = (error: unknown): boolean => (error as Problem).kind.code === "too-many-confirmations";

  test("an address gets nothing but its confirmation until it is confirmed, and then no older notices", async () => {
    const organisationId = randomUUID();
    const audience = `organisation:${organisationId}`;
    await record(noticeOf({ organisationId }));
    await put(audience, "typo@example.com");
    await put(audience, "office@example.com");
    await record(noticeOf({ organisationId }), noticeOf({ organisationId }, { severity: "info" }));
    await send();
    const [mail, ...others] = server.received;
    assert.deepEqual([mail?.to, others], [["office@example.com"], []]);
    assert.equal(headerOf(mail, "Subject"), "Confirm your email address for EHR Marketplace");
    const link = new URL(/^https:\S+$/m.exec(mail?.text ?? "")?.[0] ?? "");
    assert.equal(link.origin + link.pathname, `${publicUrl}/notices/confirm`);
    const token = readConfirmationToken(confirmationDigest, link.searchParams.get("token") ?? "", now) ?? assert.fail();
    assert.equal(token.audience, audience);
    assert.ok(isSentTo(confirmationDigest, token, "office@example.com"));
    // A mail from before the upgrade, when no address was confirmed
    await query(
      "insert into notice_mails (id, audience, created_at, due_at, expires_at) select id, audience, $1, $1, $2 from notices",
      now,
      new Date(now.getTime() + dayMs),
    );
    await send();
    assert.equal(server.received.length, 1);
    await query("update notice_settings set confirmed_email = email");
    await record(noticeOf({ organisationId }, { subject: "Newer" }));
    advance(dayMs);
    await send();
    assert.deepEqual(
      server.received.slice(1).map((each) => headerOf(each, "Subject")),
      ["Newer"],
    );
  });

  test("a mailbox gets at most three confirmations in a day, whoever names it at the same time, and however it is written; the others follow", async () => {
    await Promise.all(Array.from({ length: 8 }, (_, nth) => put(newKey(), `Office+${nth}@Example.com`)));
    server.refuseWith = 451;
    for (let hours = 0; hours < 10 * 24; hours += 6) {
      if (hours === 60) server.refuseWith = undefined;
      await send();
      advance(6 * hourMs);
    }
    const sent = await query<{ settled_at: Date }>(
      "select settled_at from notice_mails where outcome = 'sent' order by 1",
    );
    assert.equal(sent.length, 8);
    const times = sent.map(({ settled_at: at }) => at.getTime());
    assert.ok(
      times.slice(3).every((time, nth) => time >= (times[nth] ?? 0) + dayMs),
      times.join(),
    );
  });

  test("nobody keeps a stranger from saving its own address, nor alone from its link, and together only for some time", async () => {
    const attackers = [newKey(), newKey()] as const;
    const ask = async (audience: string, email: string): Promise<number> => {
      await put(audience, email, ["spend-limit"]);
      const [saved] = await query("select email, muted_kinds from notice_settings where audience = $1", audience);
      assert.deepEqual(saved, { email, muted_kinds: ["spend-limit"] });
      await send();
      return server.received.length;
    };
    const counts: number[] = [];
    for (const nth of [0, 1, 2, 3]) counts.push(await ask(attackers[0], `office+${nth}@example.com`));
    assert.deepEqual(counts, [1, 2, 2, 2]);
    assert.equal(await ask(newKey(), "office@example.com"), 3);
    const practice = newKey();
    assert.equal(await ask(practice, "Office@example.com"), 3, "the practice's mail waits");
    advance(dayMs - 1);
    assert.equal(await ask(attackers[1], "office@example.com"), 3);
    advance(1);
    await send();
    assert.ok(server.received.slice(3).some(({ to }) => to[0] === "Office@example.com"));
  });

  test("putting an unconfirmed address again mails the link once more in a day, other changes don't, and an audience names at most ten a day", async () => {
    const audience = newKey();
    const ask = async (): Promise<number> => {
      await put(audience, "office@example.com");
      await put(audience, "office@example.com");
      await send();
      return server.received.length;
    };
    assert.deepEqual([await ask(), await ask(), await ask()], [1, 2, 2]);
    advance(dayMs);
    assert.equal(await ask(), 3);
    await query("update notice_settings set muted_kinds = '{spend-limit}'");
    await put(audience, "office@example.com");
    await send();
    assert.equal(server.received.length, 3);
    for (let nth = 0; nth < 9; nth += 1) await put(audience, `stranger-${nth}@example.com`);
    await assert.rejects(put(audience, "stranger-9@example.com"), isTooMany);
    await put(audience, "stranger-8@example.com");
    await query("update notice_settings set confirmed_email = email");
    await put(audience, "stranger-8@example.com");
    assert.equal((await query("select from notice_mails")).length, 12, "it is confirmed");
  });

  test("an address that is not set, or a kind that is muted, gets no mail, and later no old ones", async () => {
    const silent = { vendorId: randomUUID() };
    await record(noticeOf(silent));
    await setEmail(`vendor:${silent.vendorId}`, "late@example.com");
    const audience = await newAudience();
    await setEmail(`organisation:${audience.organisationId}`, "office@example.com", ["spend-limit"]);
    await record(
      noticeOf(audience, { kind: "spend-limit" }),
      noticeOf(audience, { kind: "spend-limit", severity: "info" }),
    );
    advance(2 * dayMs);
    await send();
    assert.deepEqual([server.received, await outcomes()], [[], []]);
    assert.equal((await query("select from notices")).length, 3);
  });

  test("muting, and removing the address, apply to mails that wait", async () => {
    const [muted, removed] = [await newAudience(), await newAudience()];
    await record(noticeOf(muted), noticeOf(removed));
    await setEmail(`organisation:${muted.organisationId}`, "office@example.com", ["app-suspended"]);
    await query(
      "update notice_settings set email = null where audience = $1",
      `organisation:${removed.organisationId}`,
    );
    await send();
    assert.deepEqual([server.received, await outcomes()], [[], ["dropped", "dropped"]]);
  });

  test("what is only for information is in one digest a day", async () => {
    const [one, other] = [await newAudience("one@example.com"), await newAudience("other@example.com")];
    const info = (audience: NewNotice["audience"], subject: string): NewNotice =>
      noticeOf(audience, { severity: "info", kind: "review-decided", subject });
    await Promise.all([record(info(one, "First")), record(info(one, "Second")), record(info(other, "Elsewhere"))]);
    advance(20 * hourMs);
    await send();
    assert.equal(server.received.length, 0, "it is 05:00");
    advance(hourMs);
    await record(info(one, "Too late for today"));
    await Promise.all([send(), send()]);
    assert.deepEqual(server.received.flatMap(({ to }) => to).toSorted(), ["one@example.com", "other@example.com"]);
    const digest = server.received.find(({ to }) => to[0] === "one@example.com");
    assert.equal(headerOf(digest, "Subject"), "EHR Marketplace: 2 notices");
    assert.match(digest?.text ?? "", /First[^]*Second|Second[^]*First/);
    assert.doesNotMatch(digest?.text ?? "", /Elsewhere|Too late/);
    advance(dayMs);
    await send();
    assert.equal(server.received.length, 3);
    assert.match(server.received[2]?.text ?? "", /Too late for today/);
  });

  test("a digest has one link for each kind that is never urgent, and mail programs mute only those", async () => {
    const audience = await newAudience();
    const info = (kind: NoticeKind): NewNotice => noticeOf(audience, { severity: "info", kind });
    await record(info("review-decided"), info("app-suspended"), info("endpoint-held"), info("review-decided"));
    advance(dayMs);
    await send();
    const [digest] = server.received;
    const kindsOf = (url: string): NoticeKind[] | undefined =>
      readUnsubscribeToken(unsubscribeDigest, new URL(url).searchParams.get("token") ?? "")?.kinds;
    const links = [...(digest?.text ?? "").matchAll(/^Stop emails about (.+): (\S+)$/gm)];
    assert.deepEqual(Object.fromEntries(links.map(([, name = "", url = ""]) => [name, kindsOf(url)])), {
      "failing webhook endpoints": ["endpoint-held"],
      "finished reviews": ["review-decided"],
    });
    assert.match(digest?.text ?? "", /^Emails about suspended apps can be urgent\./m);
    const all = kindsOf((headerOf(digest, "List-Unsubscribe") ?? "").replace(/^<|>$/g, ""));
    assert.deepEqual(all?.toSorted(), ["endpoint-held", "review-decided"]);
    await record(info("app-suspended"));
    advance(dayMs);
    await send();
    assert.equal(headerOf(server.received[1], "List-Unsubscribe"), undefined);
  });

  test("more than 20 in an hour are in the digest, which lists the 100 oldest and says that there are more", async () => {
    const audience = await newAudience();
    for (let nth = 1; nth <= 140; nth += 1) await record(noticeOf(audience, { subject: `Notice ${nth}.` }));
    await send();
    assert.equal(server.received.length, 20);
    advance(dayMs);
    await send();
    assert.equal(server.received.length, 21);
    const digest = server.received[20];
    assert.equal(headerOf(digest, "Subject"), "EHR Marketplace: more than 100 notices");
    const listed = digest?.text.match(/^Notice \d+\.$/gm);
    assert.deepEqual([listed?.length, listed?.[0], listed?.[99]], [100, "Notice 21.", "Notice 120."]);
    assert.match(digest?.text ?? "", /^There are more in the list/m);
  });

  test("names that strangers choose add no header, no recipient and no line", async () => {
    const audience = await newAudience();
    const name = `Quill\r\nBcc: victim@example.com\r\n\r\n<script>${"long ".repeat(100)}`;
    await record(noticeOf(audience, { subject: `${name} is suspended`, detail: `${name}\u2028.\n.\r\nQUIT` }));
    await send();
    const [mail] = server.received;
    assert.deepEqual(mail?.to, ["office@example.com"]);
    assert.equal(headerOf(mail, "Bcc"), undefined);
    assert.match(headerOf(mail, "Subject") ?? "", /^Quill Bcc: victim@example.com <script>/);
    assert.match(headerOf(mail, "Content-Type") ?? "", /^text\/plain/);
    assert.equal(mail?.text.split("\n").length, 8, mail?.text);
  });

  test("nothing is lost while the mail server is down for a day, and it is not flooded afterwards", async () => {
    const audience = await newAudience();
    await record(noticeOf(audience, { subject: "One" }), noticeOf(audience, { subject: "Two" }));
    let attempts = 0;
    const down = mailerTo(1);
    const sendDown = senderWith({
      send(mail) {
        attempts += 1;
        return down.send(mail);
      },
    });
    const end = now.getTime() + dayMs;
    while (now.getTime() < end) {
      await sendDown();
      advance(60_000);
    }
    assert.deepEqual(await outcomes(), [null, null]);
    assert.ok(attempts >= 24 && attempts <= 80, `${attempts} attempts`);
    advance(hourMs);
    await send();
    assert.deepEqual(server.received.map((mail) => String(headerOf(mail, "Subject"))).toSorted(), ["One", "Two"]);
    assert.deepEqual(await outcomes(), ["sent", "sent"]);
  });

  test("one that could not be sent in three days is given up, and its notice stays", async () => {
    await record(noticeOf(await newAudience()));
    advance(3 * dayMs);
    results.length = 0;
    await send();
    assert.deepEqual([server.received, await outcomes(), results], [[], ["failed"], ["failed"]]);
    assert.equal((await query("select from notices")).length, 1);
  });

  test("a recipient that the server refuses is given up at once, or retried if the refusal is for now; others are sent", async () => {
    await record(noticeOf(await newAudience()));
    server.refuseWith = 451;
    await send();
    assert.deepEqual(await outcomes(), [null]);
    advance(60_000);
    server.refuseWith = 550;
    await send();
    assert.deepEqual(await outcomes(), ["failed"]);
    server.refuseWith = undefined;
    await record(noticeOf(await newAudience()));
    advance(hourMs);
    await send();
    assert.equal(server.received.length, 1);
  });

  test("a worker that dies after sending leaves the mail to another one, which sends it once more, as the same message", async () => {
    await record(noticeOf(await newAudience()));
    const mailer = mailerTo(server.port);
    const died = new Error("killed");
    const dying = senderWith({
      async send(mail) {
        await mailer.send(mail);
        throw died;
      },
    });
    await assert.rejects(dying(), died);
    await send();
    assert.equal(server.received.length, 1, "its lease has not ended");
    advance(leaseMs);
    await send();
    advance(dayMs);
    await send();
    const [first, second, ...others] = server.received.map((mail) => headerOf(mail, "Message-ID"));
    assert.deepEqual([first, others], [second, []]);
    assert.deepEqual(await outcomes(), ["sent"]);
  });

  test("one that took longer than its lease doesn't settle what another worker has taken", async () => {
    await record(noticeOf(await newAudience()));
    const mailer = mailerTo(server.port);
    const slow = senderWith({
      async send(mail) {
        advance(leaseMs);
        server.refuseWith = 451;
        await send();
        server.refuseWith = undefined;
        return mailer.send(mail);
      },
    });
    await slow();
    assert.deepEqual(await outcomes(), [null], "the other worker retries it");
  });

  test("old notices and mails are deleted, and recent ones are kept", async () => {
    const audience = await newAudience();
    const aged = (days: number, subject: string): NewNotice =>
      noticeOf(audience, { subject, at: new Date(now.getTime() - days * dayMs) });
    await record(aged(401, "older"), aged(399, "old"), aged(91, "read long ago"), aged(89, "read"), aged(0, "new"));
    await query("update notices set read_at = $1 where subject like 'read%'", now);
    await connected.database
      .transaction()
      .execute((transaction) => recordNotice(transaction, noticeOf("operators", { subject: "to operators" })));
    await deleteOldNotices(connected.database, now, { stopped: new AbortController().signal });
    const kept = await query<{ subject: string }>("select subject from notices order by subject");
    assert.deepEqual(
      kept.map(({ subject }) => subject),
      ["new", "old", "read", "to operators"],
    );
    assert.deepEqual(await outcomes(), [null], "mails that nobody sends are deleted after four days");
  });
});
