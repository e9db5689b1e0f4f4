import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OutboundResult } from "@ehr-marketplace/outbound-http";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import { parseDiscovery } from "./parse-discovery.ts";

const responded = (text: string | null, statusCode = 200): OutboundResult => ({
  outcome: "responded",
  statusCode,
  retryAfterMs: null,
  snippet: "",
  text,
  durationMs: 1,
});
const parse = (text: string) => parseDiscovery(responded(text));
const parseJson = (value: unknown) => parse(JSON.stringify(value));

test("each hook of the services is found once", () => {
  const services = [
    { hook: "patient-view", id: "static-patient-greeter", title: "Greeter", description: "Greets", prefetch: {} },
    { hook: "order-select", id: "order-echo", description: "Echoes" },
    { hook: "patient-view", id: "another", description: "Greets too" },
  ];
  assert.deepEqual(parseJson({ services }), { hooks: ["patient-view", "order-select"] });
  assert.deepEqual(parseJson({ services: [] }), { hooks: [] });
});

describe("nothing of a response is returned but names of hooks", () => {
  const notHooks: unknown[] = [
    "org.example.patient-transmogrify",
    "Order-Sign",
    "order sign",
    "order-sign\u0000",
    "order-sign\n",
    "\u001b[31morder-sign",
    "order-\u202esign",
    "<b>order</b>",
    "-order",
    "",
    "a".repeat(97),
    7,
    null,
    true,
    ["order-sign"],
    { toString: "order-sign" },
  ];
  for (const hook of notHooks) {
    test(JSON.stringify(hook).slice(0, 40), () => {
      assert.deepEqual(parseJson({ services: [{ hook }, { hook: "order-sign" }] }), { hooks: ["order-sign"] });
    });
  }

  test("services that aren't objects, or have no hook", () => {
    const services = [null, 7, "order-sign", ["order-sign"], {}, { id: "order-sign" }];
    assert.deepEqual(parseJson({ services }), { hooks: [] });
    assert.deepEqual(parse('{"services":[{"__proto__":{"hook":"order-sign"}}]}'), { hooks: [] });
  });
});

test("a response that lists no services says so, in words of ours", () => {
  const missing = { failure: "the response has no list of services" };
  for (const value of [{}, [], null, 7, "services", { services: null }, { services: { hook: "order-sign" } }]) {
    assert.deepEqual(parseJson(value), missing, JSON.stringify(value));
  }
  assert.deepEqual(parse('{"__proto__":{"services":[]}}'), missing);
  for (const text of ["", "<html>", '{"services":[', "\u001f\u008b"]) {
    assert.deepEqual(parse(text), { failure: "the response isn't JSON" }, text);
  }
});

test("a response of 64 KiB that is deep, or has many services or hooks, takes little time", () => {
  const depth = 32_768;
  const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const services = (hook: (nth: number) => string): string =>
    JSON.stringify({ services: Array.from({ length: 4_000 }, (_, nth) => ({ hook: hook(nth) })) });
  const letters = (nth: number): string => String(nth).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
  assertCpuTime(500, () => {
    assert.deepEqual(parse(deep), { failure: "the response has no list of services" });
    assert.deepEqual(parse(`{"services":[${deep}]}`), { hooks: [] });
    assert.deepEqual(parse(services(() => "a")), { hooks: ["a"] });
    assert.deepEqual(parse(services(letters)), { failure: "the services are for more than 100 hooks" });
    assert.deepEqual(parse(services((nth) => `${"a-".repeat(40)}${nth}`)), { hooks: [] });
  });
});

test("other statuses than 200, redirects, long responses and failed requests are failures", () => {
  const results: [OutboundResult, string][] = [
    [responded("{}", 404), "the server responded with status 404"],
    [responded('{"services":[]}', 201), "the server responded with status 201"],
    [responded("", 302), "the server responded with status 302, and redirects aren't followed"],
    [responded(null), "the response has more than 64 KiB"],
    [
      { outcome: "failed", stage: "address", reason: "address-not-allowed", statusCode: null, durationMs: 1 },
      "the request failed (address: address-not-allowed)",
    ],
  ];
  for (const [result, failure] of results) assert.deepEqual(parseDiscovery(result), { failure });
});
