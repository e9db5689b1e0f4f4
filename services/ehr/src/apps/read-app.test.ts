import assert from "node:assert/strict";
import { test } from "node:test";
import { appCalled } from "../marketplace-events/events.test-support.ts";
import { createAppReader } from "./read-app.ts";

const app = appCalled("northwind-scribe");
const inProduction = createAppReader({ allowsHttp: false });
const inDevelopment = createAppReader({ allowsHttp: true });

test("an app is read by its eight fields; what else is said of it is left out", () => {
  assert.deepEqual(inProduction({ ...app, id: app.id.toUpperCase(), rating: 5 }), { app });
});

test("http on a loopback address is for development only", () => {
  for (const field of ["iconUrl", "smartLaunchUrl"] as const) {
    const local = { ...app, [field]: "http://127.0.0.1:8080/launch" };
    assert.deepEqual(inDevelopment(local), { app: local });
    assert.deepEqual(inProduction(local), { wrong: `/${field} must begin with https://` });
  }
});

test("a URL that browsers must not be sent to, or don't understand, is refused everywhere", () => {
  const urls = [
    "http://a.example",
    "javascript:alert(1)",
    "data:,x",
    "//a.example",
    "",
    "https://a.example:99999/",
    "x",
  ];
  for (const url of [...urls, `https://a.example/${"x".repeat(2_048)}`, "https://a.example/ b"]) {
    for (const read of [inProduction, inDevelopment]) {
      assert.match(JSON.stringify(read({ ...app, smartLaunchUrl: url })), /"wrong":"\/smartLaunchUrl/, url);
      assert.match(JSON.stringify(read({ ...app, iconUrl: url })), /"wrong":"\/iconUrl/, url);
    }
  }
});

test("an app that can't be stored or referred to is refused", () => {
  for (const wrong of [
    { slug: "Not A Slug" },
    { slug: "a".repeat(65) },
    { id: "7" },
    { name: "nul \0" },
    { name: 7 },
  ]) {
    assert.ok("wrong" in inDevelopment({ ...app, ...wrong }), JSON.stringify(wrong));
  }
  assert.ok("wrong" in inDevelopment(undefined));
});
