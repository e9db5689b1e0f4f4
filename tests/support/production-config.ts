import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";

type Environment = Record<string, string>;

/** A variable, a value that production refuses, and the reason that it is refused with. */
export type ProductionRow = readonly [variable: string, value: string, reason: RegExp];

const goodKey = `1:${Buffer.alloc(32, 7).toString("base64")}`;

/** What every process has in production. */
export const productionEnvironment: Environment = {
  ENCRYPTION_KEYS: goodKey,
  METRICS_TOKEN: "0123456789abcdef0123456789abcdef",
};

export const encryptionKeyRows: ProductionRow[] = [
  ["ENCRYPTION_KEYS", developmentEncryptionKeys, /holds the development key of the repository/],
  ["ENCRYPTION_KEYS", `9:${goodKey.slice(2)},${developmentEncryptionKeys}`, /holds the development key/],
  ["ENCRYPTION_KEYS", "1:c2hvcnQ=", /an entry isn't of the form/],
];

export const metricsTokenRows: ProductionRow[] = [
  ["METRICS_TOKEN", "", /is not set, and production needs it/],
  ["METRICS_TOKEN", "0123456789abcdef0123456789abcde", /has fewer than 32 characters/],
];

export const apiRows: ProductionRow[] = [
  ...encryptionKeyRows,
  ...metricsTokenRows,
  ["TOKEN_JWKS_URL", "http://id.example/jwks", /must begin with https/],
  ["TRUSTED_PROXIES", "", /is not set, and production needs it/],
  ["TRUSTED_PROXIES", " , ", /is not set, and production needs it/],
  ["TRUSTED_PROXIES", "none, 10.0.0.0/8", /"none" is neither an IP address nor a network/],
];

/** Connections off this host on which `pg` would, or some day may, send everything in clear; and what to do with each. */
const withoutTls = [
  ["postgres://service:hunter2@db.internal/data", "End it with: ?sslmode=verify-full"],
  ["postgres://service:hunter2@10.0.0.7:5432/data?application_name=x", "End it with: &sslmode=verify-full"],
  ["postgres://service:hunter2@db.internal/data?sslmode=disable", "Replace its parameter sslmode with: sslmode="],
  ["postgres://service:hunter2@db.internal/data?sslmode=prefer", "Replace its parameter sslmode with: sslmode="],
  ["postgres://service:hunter2@db.internal/data?a=b&sslmode=allow", "Replace its parameter sslmode with: sslmode="],
  ["postgres://service:hunter2@db.internal/data?ssl=0", "Replace its parameter ssl with: sslmode=verify-full"],
  ["postgres://service:hunter2@localhost.example/data", "End it with: ?sslmode=verify-full"],
  ["postgres://service:hunter2@127.0.0.1/data?host=db.internal", "End it with: &sslmode=verify-full"],
  ["postgres://service:hunter2@[2001:db8::1]/data", "End it with: ?sslmode=verify-full"],
] as const;

export const databaseRows = (variable: string): ProductionRow[] => [
  ...withoutTls.map(
    ([value, advice]) =>
      [variable, value, new RegExp(`leads to another host without TLS, which.* ${RegExp.escape(advice)}`)] as const,
  ),
  ...[
    "mysql://service:hunter2@127.0.0.1/data",
    "https://service:hunter2@127.0.0.1/data",
    "service:hunter2@db/data",
  ].map((value) => [variable, value, /is not a connection string of PostgreSQL/] as const),
];

const acceptedConnections = [
  "postgres://service:hunter2@127.0.0.1:5432/data",
  "postgres://service:hunter2@127.1.2.3/data",
  "postgres://service:hunter2@[::1]/data",
  "postgres://service:hunter2@localhost/data",
  "postgres://service:hunter2@%2Fvar%2Frun%2Fpostgresql/data",
  "postgres:///data?host=/var/run/postgresql",
  "/var/run/postgresql data",
  "postgresql://service:hunter2@localhost/data",
  "socket:/var/run/postgresql?db=data",
  "postgres://service:hunter2@db.internal/data?sslmode=require",
  "postgres://service:hunter2@db.internal/data?sslmode=verify-ca",
  "postgres://service:hunter2@db.internal/data?sslmode=verify-full",
  "postgres://service:hunter2@db.internal/data?ssl=true",
];

/** Tests a process's configuration in production: each wrong variable is refused by name, and all of them at once. */
export function describeProduction(
  process: string,
  read: (environment: NodeJS.ProcessEnv) => unknown,
  valid: Environment,
  rows: ProductionRow[],
): void {
  const complaintsAbout = (environment: Environment): Map<string, string> => {
    try {
      read(environment);
      return new Map();
    } catch (error) {
      const [first, ...lines] = (error as Error).message.split("\n");
      assert.equal(first, "The configuration can't be used:", (error as Error).stack);
      return new Map(lines.map((line) => [/^ {2}(\w+): /.exec(line)?.[1] ?? line, line] as const));
    }
  };

  describe(`${process} in production`, () => {
    test("starts with a right configuration", () => {
      assert.deepEqual(complaintsAbout(valid), new Map());
    });

    for (const [variable, value, reason] of rows) {
      test(`refuses ${variable}=${value.replace(/[\w+/]{40,}/g, "…")}`, () => {
        const complaints = complaintsAbout({ ...valid, [variable]: value });
        assert.deepEqual([...complaints.keys()], [variable]);
        assert.match(complaints.get(variable) ?? "", reason);
        assert.doesNotMatch(complaints.get(variable) ?? "", /hunter2/);
      });
    }

    test("names everything that is wrong at once", () => {
      const wrong = Object.fromEntries(rows);
      assert.deepEqual(
        [...complaintsAbout({ ...valid, ...wrong, NODE_ENV: "production" }).keys()].toSorted(),
        Object.keys(wrong).toSorted(),
      );
    });

    const [databaseVariable] = rows.find(([variable]) => variable.endsWith("DATABASE_URL")) ?? [];
    for (const connection of databaseVariable === undefined ? [] : acceptedConnections) {
      test(`accepts ${databaseVariable}=${connection}`, () => {
        assert.deepEqual(complaintsAbout({ ...valid, [String(databaseVariable)]: connection }), new Map());
      });
    }
  });
}
