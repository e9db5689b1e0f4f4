import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noticeKinds } from "@ehr-marketplace/contracts";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { createConfirmationToken, readConfirmationToken } from "./confirmation-token.ts";
import { classifyFailure, nextAttempt, pauseMs, waitMs } from "./mail-schedule.ts";
import { isSentTo } from "./mail-token.ts";
import { nextDigest, toLine } from "./notice.ts";
import { createUnsubscribeToken, readUnsubscribeToken } from "./unsubscribe-token.ts";

describe("a line of a notice", () => {
  for (const [what, given, line] of [
    ["line breaks", "Quill\r\nBcc: all@example.com\n\nHello", "Quill Bcc: all@example.com Hello"],
    ["separators of Unicode", "Quill\u2028Bcc\u2029x\u0085y\u000by", "Quill Bcc x y y"],
    ["NUL and escapes", "Qu\u0000ill\u001b[31m", "Qu ill [31m"],
    ["marks that turn the direction", "Quill \u202eexe.fdp\u202c", "Quill exe.fdp"],
    ["lone surrogates", "Qu\ud800ill", "Qu�ill"],
  ] as const) {
    test(`has no ${what}`, () => assert.equal(toLine(given, 200), line));
  }

  test("is cut without halving a character", () => {
    const line = toLine("🩺".repeat(300), 200);
    assert.equal(Array.from(line).length, 200);
    assert.ok(line.endsWith("🩺…") && line.isWellFormed());
  });
});

test("a digest is sent at 06:00 in UTC, and what is recorded just before it belongs to the next one", () => {
  const digestOf = (at: string): string => nextDigest(new Date(at)).toISOString();
  assert.equal(digestOf("2026-03-18T00:00:00Z"), "2026-03-18T06:00:00.000Z");
  assert.equal(digestOf("2026-03-18T05:55:00Z"), "2026-03-18T06:00:00.000Z");
  assert.equal(digestOf("2026-03-18T05:55:00.001Z"), "2026-03-19T06:00:00.000Z");
  assert.equal(digestOf("2026-12-31T23:58:00Z"), "2027-01-01T06:00:00.000Z");
});

describe("the schedule of mails", () => {
  test("waits a minute, then twice as long each time, and at most an hour", () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 1_000].map((attempts) => waitMs(attempts) / 60_000),
      [1, 2, 4, 8, 16, 32, 60, 60, 60],
    );
    assert.deepEqual(
      [1, 2, 3, 5, 6, 100].map((failures) => pauseMs(failures) / 1_000),
      [10, 20, 40, 160, 300, 300],
    );
  });

  test("tries for three days, whatever the number of attempts, unless the server refuses the mail for good", () => {
    const first = new Date("2026-03-18T09:00:00Z");
    const expiresAt = new Date(first.getTime() + 3 * 86_400_000);
    let at = first;
    let attempts = 0;
    for (let next: Date | null = first; next !== null; attempts += 1) {
      at = next;
      next = nextAttempt("unavailable", { attempts: attempts + 1, expiresAt }, at);
    }
    assert.ok(expiresAt.getTime() - at.getTime() <= 3_600_000, `the last attempt is at ${at.toISOString()}`);
    assert.ok(attempts > 70 && attempts < 80, `${attempts} attempts`);
    assert.equal(nextAttempt("rejected", { attempts: 1, expiresAt }, first), null);
    assert.ok(nextAttempt("deferred", { attempts: 1, expiresAt }, first));
  });

  for (const [what, error, failure] of [
    ["an unknown recipient", { code: "EENVELOPE", responseCode: 550 }, "rejected"],
    ["a refused message", { code: "EMESSAGE", responseCode: 554 }, "rejected"],
    ["a full mailbox", { code: "EENVELOPE", responseCode: 452 }, "deferred"],
    ["a refused connection", { code: "ESOCKET" }, "unavailable"],
    ["a time-out", { code: "ETIMEDOUT" }, "unavailable"],
    ["a wrong password", { code: "EAUTH", responseCode: 535 }, "unavailable"],
    ["an unknown error", {}, "unavailable"],
  ] as const) {
    test(`${what} means ${failure}`, () => assert.equal(classifyFailure(error), failure));
  }
});

describe("the token of an unsubscribe link", () => {
  const digestOf = (version: number) =>
    createKeyedDigest(parseEncryptionKeys(`${version}:${Buffer.alloc(32, version).toString("base64")}`), "unsubscribe");
  const digest = digestOf(1);
  const email = "office@example.com";
  const meant = { audience: "vendor:01890000-0000-7000-8000-000000000000", kinds: [...noticeKinds], email };
  const token = createUnsubscribeToken(digest, meant);

  test("says what is muted, and fits a URL", () => {
    const { audience, kinds } = readUnsubscribeToken(digest, token) ?? {};
    assert.deepEqual({ audience, kinds, email }, meant);
    assert.match(token, /^[\w.-]{1,1000}$/);
  });

  test("says which address the mail was sent to, to those who know it", () => {
    const link = readUnsubscribeToken(digest, token) ?? assert.fail();
    assert.equal(isSentTo(digest, link, email), true);
    assert.equal(isSentTo(digest, link, "other@example.com"), false);
    assert.equal(isSentTo(digest, { ...link, audience: "operators" }, email), false);
    assert.equal(isSentTo(digest, { ...link, recipient: "" }, email), false);
    assert.doesNotMatch(Buffer.from(token.split(".")[0] ?? "", "base64url").toString(), /office/);
  });

  const other = createUnsubscribeToken(digest, { ...meant, audience: "operators" });
  for (const [what, forged] of [
    ["nothing", ""],
    ["another's content with this signature", `${other.split(".")[0]}.${token.split(".").slice(1).join(".")}`],
    // Not the last character: its last two bits aren't part of the signature.
    ["another signature", token.replace(/.(?=.$)/, (character) => (character === "A" ? "B" : "A"))],
    ["a signature of a key that doesn't exist", createUnsubscribeToken(digestOf(7), meant)],
    ["a key with a strange number", token.replace(".1.", ".999999999.")],
    ["text of a prototype", "__proto__.constructor.toString"],
    ["more than a token", `${token}.${token}`],
  ] as const) {
    test(`can't be made of ${what}`, () => assert.equal(readUnsubscribeToken(digest, forged), undefined));
  }
});

test("the token of a confirmation is valid until it expires, and for nothing else", () => {
  const keys = parseEncryptionKeys(`1:${Buffer.alloc(32, 1).toString("base64")}`);
  const digest = createKeyedDigest(keys, "confirmation");
  const expiresAt = new Date("2026-03-18T09:00:00Z");
  const before = new Date(expiresAt.getTime() - 1);
  const meant = { audience: "vendor:01890000-0000-7000-8000-000000000000", email: "office@example.com" };
  const token = createConfirmationToken(digest, { ...meant, expiresAt });
  const link = readConfirmationToken(digest, token, before) ?? assert.fail();
  assert.equal(link.audience, meant.audience);
  assert.ok(isSentTo(digest, link, meant.email) && !isSentTo(digest, link, "other@example.com"));
  assert.match(token, /^[\w.-]{1,1000}$/);
  assert.equal(readConfirmationToken(digest, token, expiresAt), undefined);
  const unsubscribes = createUnsubscribeToken(createKeyedDigest(keys, "unsubscribe"), {
    ...meant,
    kinds: ["spend-limit"],
  });
  assert.equal(readConfirmationToken(digest, unsubscribes, before), undefined);
  assert.equal(readUnsubscribeToken(createKeyedDigest(keys, "unsubscribe"), token), undefined);
});
