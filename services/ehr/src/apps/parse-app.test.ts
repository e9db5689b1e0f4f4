import assert from "node:assert/strict";
import { test } from "node:test";
import { buildApp } from "../marketplace-events/events.test-support.ts";
import { createAppParser } from "./parse-app.ts";

const app = buildApp("northwind-scribe");
const parseInProduction = createAppParser({ allowsHttp: false });
const parseInDevelopment = createAppParser({ allowsHttp: true });

test("an app is parsed into its eight fields and its CDS services' URL; unknown ones are left out", () => {
  const given = { ...app, id: app.id.toUpperCase(), rating: 5 };
  assert.deepEqual(parseInProduction(given), { app, cdsServicesUrl: null });
  assert.deepEqual(parseInProduction({ ...given, cdsServicesUrl: null }), { app, cdsServicesUrl: null });
  const cdsServicesUrl = "https://a.example/cds-services";
  assert.deepEqual(parseInProduction({ ...given, cdsServicesUrl }), { app, cdsServicesUrl });
});

test("accepts http on a loopback address in development only", () => {
  for (const field of ["iconUrl", "smartLaunchUrl"] as const) {
    const local = { ...app, [field]: "http://127.0.0.1:8080/launch" };
    assert.deepEqual(parseInDevelopment(local), { app: local, cdsServicesUrl: null });
    assert.deepEqual(parseInProduction(local), { error: `/${field} must begin with https://` });
  }
  const cdsServicesUrl = "http://127.0.0.1:8080/cds-services";
  assert.deepEqual(parseInDevelopment({ ...app, cdsServicesUrl }), { app, cdsServicesUrl });
  assert.deepEqual(parseInProduction({ ...app, cdsServicesUrl }), {
    error: "/cdsServicesUrl must begin with https://",
  });
});

test("rejects URLs that browsers must not or can't open", () => {
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
    for (const parse of [parseInProduction, parseInDevelopment]) {
      assert.match(JSON.stringify(parse({ ...app, smartLaunchUrl: url })), /"error":"\/smartLaunchUrl/, url);
      assert.match(JSON.stringify(parse({ ...app, iconUrl: url })), /"error":"\/iconUrl/, url);
      assert.match(JSON.stringify(parse({ ...app, cdsServicesUrl: url })), /"error":"\/cdsServicesUrl/, url);
    }
  }
});

test("rejects an app that can't be stored", () => {
  for (const invalid of [
    { slug: "Not A Slug" },
    { slug: "a".repeat(65) },
    { id: "7" },
    { name: "nul \0" },
    { name: 7 },
  ]) {
    assert.ok("error" in parseInDevelopment({ ...app, ...invalid }), JSON.stringify(invalid));
  }
  assert.ok("error" in parseInDevelopment(undefined));
});
