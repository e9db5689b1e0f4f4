import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";

type Environment = Record<string, string>;

/** A variable, a value that is invalid in production, and the expected error. */
export type ProductionRow = readonly [variable: string, value: string, reason: RegExp];

const validKey = `1:${Buffer.alloc(32, 7).toString("base64")}`;

/** Variables that every process needs in production. */
export const productionEnvironment: Environment = {
  ENCRYPTION_KEYS: validKey,
  METRICS_TOKEN: "0123456789abcdef0123456789abcdef",
};

export const encryptionKeyRows: ProductionRow[] = [
  ["ENCRYPTION_KEYS", developmentEncryptionKeys, /contains the development key of the repository/],
  ["ENCRYPTION_KEYS", `9:${validKey.slice(2)},${developmentEncryptionKeys}`, /contains the development key/],
  ["ENCRYPTION_KEYS", "1:c2hvcnQ=", /an entry doesn't have the form/],
];

export const metricsTokenRows: ProductionRow[] = [
  ["METRICS_TOKEN", "", /is required in production/],
  ["METRICS_TOKEN", "0123456789abcdef0123456789abcde", /must have at least 32 characters/],
];

export const apiRows: ProductionRow[] = [
  ...encryptionKeyRows,
  ...metricsTokenRows,
  ["TOKEN_JWKS_URL", "http://id.example/jwks", /must begin with https/],
  ["TRUSTED_PROXIES", "", /is required in production/],
  ["TRUSTED_PROXIES", " , ", /is required in production/],
  ["TRUSTED_PROXIES", "none, 10.0.0.0/8", /"none" is neither an IP address nor a network/],
];

/** Connection strings to other hosts without verified TLS, and the advice that the error gives for each. */
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
      [variable, value, new RegExp(`connects to another host without TLS, which.* ${RegExp.escape(advice)}`)] as const,
  ),
  ...[
    "mysql://service:hunter2@127.0.0.1/data",
    "https://service:hunter2@127.0.0.1/data",
    "service:hunter2@db/data",
  ].map((value) => [variable, value, /is not a PostgreSQL connection string/] as const),
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

/** Tests a process's configuration in production: each invalid variable is reported by name, and all of them at once. */
export function testProductionConfig(
  process: string,
  read: (environment: NodeJS.ProcessEnv) => unknown,
  valid: Environment,
  rows: ProductionRow[],
  optional: string[] = [],
): void {
  const readErrors = (environment: Environment): Map<string, string> => {
    try {
      read(environment);
      return new Map();
    } catch (error) {
      const [first, ...lines] = (error as Error).message.split("\n");
      assert.equal(first, "The configuration is invalid:", (error as Error).stack);
      return new Map(lines.map((line) => [/^ {2}(\w+): /.exec(line)?.[1] ?? line, line] as const));
    }
  };

  describe(`${process} in production`, () => {
    test("accepts a valid configuration", () => {
      assert.deepEqual(readErrors(valid), new Map());
    });

    for (const [variable, value, reason] of rows) {
      test(`rejects ${variable}=${value.replace(/[\w+/]{40,}/g, "…")}`, () => {
        const errors = readErrors({ ...valid, [variable]: value });
        assert.deepEqual([...errors.keys()], [variable]);
        assert.match(errors.get(variable) ?? "", reason);
        assert.doesNotMatch(errors.get(variable) ?? "", /hunter2/);
      });
    }

    test("names every missing variable at once, each with an example, also if NODE_ENV is invalid", () => {
      const required = Object.keys(valid).filter((variable) => !optional.includes(variable));
      const errors = readErrors({});
      assert.deepEqual([...errors.keys()].toSorted(), required.toSorted());
      for (const [variable, error] of errors) {
        assert.match(error, new RegExp(`^  ${variable}: is required.* For example: ${variable}=`));
      }
      const invalid = readErrors({ NODE_ENV: "staging" });
      assert.deepEqual([...invalid.keys()].toSorted(), ["NODE_ENV", ...required].toSorted());
    });

    test("reports all invalid variables at once", () => {
      const invalid = Object.fromEntries(rows);
      assert.deepEqual(
        [...readErrors({ ...valid, ...invalid, NODE_ENV: "production" }).keys()].toSorted(),
        Object.keys(invalid).toSorted(),
      );
    });

    const [databaseVariable] = rows.find(([variable]) => variable.endsWith("DATABASE_URL")) ?? [];
    for (const connection of databaseVariable === undefined ? [] : acceptedConnections) {
      test(`accepts ${databaseVariable}=${connection}`, () => {
        assert.deepEqual(readErrors({ ...valid, [String(databaseVariable)]: connection }), new Map());
      });
    }
  });
}
