import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigurationError, networks, port, readEnvironment, str, url, wholeNumber } from "./index.ts";

const specs = {
  DATABASE_URL: str({ desc: "Connection string of the database", example: "postgres://app:secret@db:5432/app" }),
  PUBLIC_URL: url({ desc: "Where clients reach this service", example: "https://market.example.org" }),
  POOL_SIZE: wholeNumber({ min: 1, max: 500 })({
    desc: "Maximum number of database connections per process",
    example: "10",
    default: 10,
  }),
  SERVICE_PORT: port({ desc: "Port to listen on", example: "8080", default: 8080 }),
  LOG_LEVEL: str({ desc: "Least severe level", choices: ["info", "warn"], example: "info", default: "info" }),
  PROXIES: networks({ desc: "Proxies in front", example: "10.0.0.0/8", default: [] }),
};
const right = { DATABASE_URL: "postgres://app:secret@db:5432/app", PUBLIC_URL: "https://market.example.org" };

function complaintsAbout(environment: NodeJS.ProcessEnv, about: Parameters<typeof readEnvironment>[1] = specs): string {
  try {
    readEnvironment(environment, about);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    return error.message;
  }
  return assert.fail("nothing was found wrong");
}

test("parses variables to their types, and applies defaults", () => {
  const read = readEnvironment({ ...right, POOL_SIZE: "25", PROXIES: "10.0.0.1,10.0.0.2" }, specs);
  assert.equal(read.POOL_SIZE, 25);
  assert.equal(read.SERVICE_PORT, 8080);
  assert.deepEqual(read.PROXIES, ["10.0.0.1", "10.0.0.2"]);
});

test("reports all invalid variables at once, each with reason, description and example", () => {
  const message = complaintsAbout({
    PUBLIC_URL: "nowhere",
    POOL_SIZE: "many",
    SERVICE_PORT: "99999",
    LOG_LEVEL: "loud",
  });
  const lines = message.split("\n").slice(1);
  assert.equal(lines.length, 5, message);
  for (const [line, variable, reason] of [
    [lines[0], "DATABASE_URL", "is required"],
    [lines[1], "PUBLIC_URL", '"nowhere"'],
    [lines[2], "POOL_SIZE", '"many" is not a whole number from 1 to 500'],
    [lines[3], "SERVICE_PORT", '"99999"'],
    [lines[4], "LOG_LEVEL", '"loud" not in choices [info,warn]'],
  ] as const) {
    const spec = specs[variable];
    assert.ok(line !== undefined && line.startsWith(`  ${variable}: `), line);
    assert.ok(line.includes(reason), line);
    assert.ok(line.includes(`${spec.desc}.`), line);
    assert.ok(line.endsWith(`For example: ${variable}=${spec.example}`), line);
  }
});

test("doesn't mention valid variables in an error", () => {
  const message = complaintsAbout({ ...right, POOL_SIZE: "0" });
  assert.equal(message.split("\n").length, 2);
  assert.ok(!message.includes("DATABASE_URL"));
});

test("an empty variable counts as unset", () => {
  assert.match(complaintsAbout({ ...right, DATABASE_URL: "" }), /DATABASE_URL: is required/);
  const read = readEnvironment({ ...right, POOL_SIZE: "", PROXIES: "", LOG_LEVEL: "" }, specs);
  assert.deepEqual([read.POOL_SIZE, read.PROXIES, read.LOG_LEVEL], [10, [], "info"]);
});

test("refuses an invalid connection string without repeating its password", () => {
  const about = { QUEUE_URL: url({ desc: "The queue", example: "amqp://queue" }) };
  for (const value of ["amqp://app:hunter2@queue:port", "//app:hunter2@queue", "amqp//app:hunter2@queue"]) {
    const message = complaintsAbout({ QUEUE_URL: value }, about);
    assert.match(message, /QUEUE_URL: invalid url/);
    assert.ok(!message.includes("hunter2"), message);
  }
});

test("never repeats the value of a secret variable", () => {
  for (const variable of ["METRICS_TOKEN", "WEBHOOK_SECRET", "ADMIN_PASSWORD", "SIGNING_KEY"]) {
    const message = complaintsAbout({ [variable]: "hunter2" }, { [variable]: url({ desc: "Something secret" }) });
    assert.ok(message.includes(variable) && !message.includes("hunter2"), message);
    const missing = complaintsAbout({}, { [variable]: url({ desc: "Something secret" }) });
    assert.ok(missing.includes(`${variable}: is required. Something secret.`), missing);
  }
});

for (const [given, expected] of [
  ["1", 1],
  ["500", 500],
  ["007", 7],
] as const) {
  test(`"${given}" is the whole number ${expected}`, () => {
    assert.equal(readEnvironment({ ...right, POOL_SIZE: given }, specs).POOL_SIZE, expected);
  });
}

for (const given of ["0", "501", "-1", "+1", "1.0", "1e2", "0x10", " 1", "1 ", "1\n", "١", "one", "9".repeat(400)]) {
  test(`${JSON.stringify(given).slice(0, 20)} is not a whole number from 1 to 500`, () => {
    assert.match(complaintsAbout({ ...right, POOL_SIZE: given }), /POOL_SIZE: .* is not a whole number from 1 to 500/s);
  });
}

for (const [given, expected] of [
  ["10.0.0.1", ["10.0.0.1"]],
  [" 10.0.0.0/8 , ::1,fd00::/8 ", ["10.0.0.0/8", "::1", "fd00::/8"]],
  [",10.0.0.1,,10.0.0.2,", ["10.0.0.1", "10.0.0.2"]],
  [" , ,", []],
] as const) {
  test(`the networks ${JSON.stringify(given)} have ${expected.length} entries`, () => {
    assert.deepEqual(readEnvironment({ ...right, PROXIES: given }, specs).PROXIES, expected);
  });
}

for (const given of ["one", "10.0.0.0/33", "10.0.0.1 10.0.0.2", "::g", "*"]) {
  test(`${JSON.stringify(given)} is no network`, () => {
    assert.match(complaintsAbout({ ...right, PROXIES: given }), /PROXIES: .* is neither an IP address nor a network/);
  });
}
