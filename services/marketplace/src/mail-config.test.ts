import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findMailErrors, mailConfig } from "./mail-config.ts";

const given = {
  NODE_ENV: "production",
  SMTP_URL: "smtp://market%40place:s%2Fecret@mail.internal",
  MAIL_FROM: "EHR Marketplace <notices@example.com>",
  PUBLIC_URL: "https://marketplace.example/",
  WEB_URL: "",
};
const namesOf = (errors: object): string[] =>
  Object.entries(errors).flatMap(([name, error]) => (error === undefined ? [] : [name]));

describe("the settings of mail", () => {
  test("without SMTP_URL nothing is mailed, and nothing is required", () => {
    const unset = { NODE_ENV: "production", SMTP_URL: "", MAIL_FROM: "", PUBLIC_URL: "", WEB_URL: "" };
    assert.deepEqual(findMailErrors(unset), {});
    assert.equal(mailConfig(unset), undefined);
  });

  test("a server with a password has to offer STARTTLS, unless it is on this machine", () => {
    assert.deepEqual(namesOf(findMailErrors(given)), []);
    assert.deepEqual(mailConfig(given), {
      host: "mail.internal",
      port: 587,
      secure: false,
      requiresTls: true,
      auth: { user: "market@place", pass: "s/ecret" },
      from: given.MAIL_FROM,
      publicUrl: "https://marketplace.example",
      webUrl: undefined,
    });
    assert.equal(mailConfig({ ...given, SMTP_URL: "smtp://[::1]:25" })?.requiresTls, false);
    assert.equal(mailConfig({ ...given, SMTP_URL: "smtp://[::1]:25" })?.host, "::1");
    const secure = mailConfig({ ...given, SMTP_URL: "smtps://mail.internal" });
    assert.deepEqual([secure?.secure, secure?.port, secure?.auth], [true, 465, undefined]);
  });

  test("pages of the web are linked where it runs", () => {
    assert.equal(mailConfig({ ...given, WEB_URL: "https://apps.example/" })?.webUrl, "https://apps.example");
  });

  for (const [name, value] of [
    ["SMTP_URL", "https://mail.internal"],
    ["SMTP_URL", "mail.internal:25"],
    ["SMTP_URL", "smtps://user:pa%ss@mail.internal"],
    ["SMTP_URL", "smtps://us%er:pass@mail.internal"],
    ["MAIL_FROM", ""],
    ["MAIL_FROM", "nobody"],
    ["MAIL_FROM", "a@example.com, b@example.com"],
    ["MAIL_FROM", "a@example.com\r\nBcc: b@example.com"],
    ["PUBLIC_URL", ""],
    ["PUBLIC_URL", "http://marketplace.example"],
    ["WEB_URL", "http://apps.example"],
    ["WEB_URL", "https://apps.example/web"],
  ] as const) {
    test(`${name} must not be ${JSON.stringify(value)}`, () => {
      assert.deepEqual(namesOf(findMailErrors({ ...given, [name]: value })), [name]);
    });
  }

  test("what is wrong is said with an example, and without the password", () => {
    const errors = findMailErrors({ ...given, SMTP_URL: "smtps://user:pa%ss@mail.internal", MAIL_FROM: "nobody" });
    assert.match(errors["SMTP_URL"] ?? "", /percent-encoded/);
    assert.doesNotMatch(errors["SMTP_URL"] ?? "", /pa%ss/);
    assert.match(errors["MAIL_FROM"] ?? "", /EHR Marketplace <notices@example\.com>/);
  });
});
