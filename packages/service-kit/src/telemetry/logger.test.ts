import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { createLogger, type Logger } from "./logger.ts";

/** Logs to a stream and returns the line, as text and parsed. */
function logged(log: (logger: Logger) => void): { text: string; line: Record<string, unknown> } {
  const lines: string[] = [];
  log(createLogger({ service: "test", level: "info" }, { write: (line) => lines.push(line) }));
  assert.equal(lines.length, 1);
  const [text = ""] = lines;
  return { text, line: JSON.parse(text) };
}

const secretNames =
  "authorization Authorization proxy-authorization cookie Cookie set-cookie cookies secret clientSecret client_secret " +
  "SECRET password oldPassword token accessToken access_token refresh_token idToken apiKey api_key x-api-key launch " +
  "x-marketplace-signature webhook-signature";

for (const name of secretNames.split(" ")) {
  test(`redacts the value of ${name} at any depth`, () => {
    let nested: object = { [name]: "hunter2" };
    for (let depth = 0; depth < 6; depth += 1) {
      const { text } = logged((logger) => logger.info({ ...nested, beside: "seen" }, "something"));
      assert.ok(text.includes('"[redacted]"') && !text.includes("hunter2"), text);
      assert.ok(text.includes("seen"), text);
      nested = depth % 2 === 0 ? { inner: nested } : { list: ["a", nested] };
    }
  });
}

test("redacts secrets that are lists, objects, or fields of class instances", () => {
  class Credentials {
    readonly user = "jane";
    readonly password = "hunter2";
  }
  const given = {
    headers: { "set-cookie": ["a=hunter2"] },
    token: { value: "hunter2" },
    credentials: new Credentials(),
  };
  const { text } = logged((logger) => logger.info(given, "something"));
  assert.ok(text.includes("jane") && !text.includes("hunter2"), text);
});

test("redacts the bindings of child loggers", () => {
  const { text } = logged((logger) => logger.child({ token: "hunter2", a: { secret: "hunter2" } }).info("something"));
  assert.ok(!text.includes("hunter2"), text);
});

test("redaction doesn't change the logged object", () => {
  const given = { headers: { authorization: "Bearer hunter2" } };
  logged((logger) => logger.info(given, "something"));
  assert.equal(given.headers.authorization, "Bearer hunter2");
});

test("logs fields whose names only resemble those of secrets", () => {
  const given = { author: "jane", launchId: "l1", launchType: "smart", secondary: 1, key: "k", pass: true, cook: "x" };
  const { line } = logged((logger) => logger.info(given, "something"));
  assert.deepEqual({ ...line, ...given }, line);
});

test("keeps dates, bytes, null and circular objects", () => {
  const circle: Record<string, unknown> = { name: "circle" };
  circle["self"] = circle;
  const { line } = logged((logger) =>
    logger.info({ at: new Date(0), none: null, url: new URL("http://a/"), circle }, "it"),
  );
  assert.equal(line["at"], "1970-01-01T00:00:00.000Z");
  assert.deepEqual([line["none"], line["url"]], [null, "http://a/"]);
});

const connectionString = "postgres://app:hunter2@db.internal:5432/app";
for (const [where, log] of [
  [
    "an error's message",
    (logger) => logger.error({ err: new Error(`can't connect to ${connectionString}`) }, "failed"),
  ],
  [
    "the cause of an error",
    (logger) => logger.error({ err: new Error("a", { cause: new Error(connectionString) }) }, "x"),
  ],
  ["an error that is logged by itself", (logger) => logger.error(new Error(`no ${connectionString} there`))],
  ["what was thrown without being an error", (logger) => logger.error({ err: `no ${connectionString}` }, "failed")],
  ["a message", (logger) => logger.warn(`trying ${connectionString}, again`)],
  ["a field", (logger) => logger.warn({ target: connectionString, other: ["a", connectionString] }, "trying")],
] satisfies [string, (logger: Logger) => void][]) {
  test(`redacts the password of a connection string in ${where}, and logs the rest of it`, () => {
    const { text } = logged(log);
    assert.ok(!text.includes("hunter2") && !text.includes("app:"), text);
    assert.ok(text.includes("postgres://[redacted]@db.internal:5432/app"), text);
  });
}

for (const url of [
  "amqps://a:hunter2@b",
  "redis://:hunter2@b:1/0",
  "https://hunter2@b/x?y=1",
  "postgresql://a:p@hunter2@b/c",
]) {
  test(`credentials are found in ${url}`, () => {
    assert.ok(!logged((logger) => logger.info(`${url} and "${url}"`)).text.includes("hunter2"));
  });
}

test("logs text that only resembles credentials: addresses, paths with an @, and e-mail addresses", () => {
  const texts = [
    "https://a.example/@scope/b",
    "at file:///srv/node_modules/@fastify/otel/index.js:1:2",
    "jane@example.org",
  ];
  for (const text of texts) assert.equal(logged((logger) => logger.info(text)).line["msg"], text);
  const apart = { url: "https://a.example", mail: "jane@example.org" };
  const { line } = logged((logger) => logger.info(apart, "two fields"));
  assert.deepEqual({ ...line, ...apart }, line);
});

test("an error is logged with its type, message, stack, code and causes", () => {
  const cause = Object.assign(new TypeError("inner"), { code: "E_INNER" });
  const { line } = logged((logger) => logger.error({ err: new Error("outer", { cause }) }, "failed"));
  const err: Record<string, unknown> = JSON.parse(JSON.stringify(line["err"]));
  assert.deepEqual([err["type"], err["message"]], ["Error", "outer"]);
  assert.match(String(err["stack"]), /logger\.test\.ts/);
  assert.match(JSON.stringify(err["cause"]), /"type":"TypeError","message":"inner".*"code":"E_INNER"/);
  assert.deepEqual([line["level"], line["service"], line["msg"]], ["error", "test", "failed"]);
});

test("writes to standard output by default, in order, including lines just before the process exits", () => {
  const program = `
    import { createLogger } from ${JSON.stringify(import.meta.resolve("./logger.ts"))};
    const logger = createLogger({ service: "test", level: "info" });
    for (let line = 0; line < 1000; line += 1) logger.info({ line, padding: "x".repeat(100) }, "one of many");
    logger.fatal("the last words");
    process.exit(3);`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
  assert.equal(status, 3);
  assert.deepEqual(
    lines.slice(0, -1).map((each) => each["line"]),
    Array.from({ length: 1_000 }, (_, line) => line),
  );
  assert.equal(lines.at(-1)?.["msg"], "the last words");
});
