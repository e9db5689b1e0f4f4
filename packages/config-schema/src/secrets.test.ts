import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { collectTexts, secretsAndConfig } from "@ehr-marketplace/test-kit/config-schemas";
import fc from "fast-check";
import { checkSchema } from "./check-schema.ts";
import { compileSchema } from "./compile-schema.ts";
import type { ConfigSchema } from "./profile.ts";
import { everything, findSecrets, keepSecrets, redact, secretsIn } from "./secrets.ts";

const runs = { numRuns: rounds(500, 10_000) };

test("redacts exactly the values marked writeOnly", () => {
  fc.assert(
    fc.property(secretsAndConfig, (configured) => {
      const { schema, config } = configured;
      assert.deepEqual([checkSchema(schema), compileSchema(schema)(config)], [[], []]);
      const shown = JSON.stringify(redact(config, findSecrets(schema)));
      const { secret, open } = collectTexts(configured);
      for (const text of secret) assert.ok(!shown.includes(text), text);
      for (const text of open) assert.ok(shown.includes(text), text);
    }),
    runs,
  );
});

test("a redacted configuration that is sent back changes nothing", () => {
  fc.assert(
    fc.property(secretsAndConfig, ({ schema, config }) => {
      const secrets = findSecrets(schema);
      const { config: next, kept } = keepSecrets(redact(config, secrets), config, secrets);
      assert.deepEqual(next, config);
      assert.deepEqual(kept.toSorted(), secretsIn(config, secrets).toSorted());
    }),
    runs,
  );
});

test("a configuration with all values replaces the stored one", () => {
  fc.assert(
    fc.property(secretsAndConfig, secretsAndConfig, ({ schema, config }, { config: stored }) => {
      assert.deepEqual(keepSecrets(config, stored, findSecrets(schema)), { config, kept: [] });
    }),
    runs,
  );
});

test("redacts and keeps values that one of two schemas marks", () => {
  fc.assert(
    fc.property(secretsAndConfig, secretsAndConfig, (configured, other) => {
      const secrets = [...findSecrets(configured.schema), ...findSecrets(other.schema)];
      const shown = redact(configured.config, secrets);
      for (const text of collectTexts(configured).secret) assert.ok(!JSON.stringify(shown).includes(text), text);
      for (const text of collectTexts({ ...other, config: configured.config }).secret) {
        assert.ok(!JSON.stringify(shown).includes(text), text);
      }
      assert.deepEqual(keepSecrets(shown, configured.config, secrets).config, configured.config);
    }),
    runs,
  );
});

test("null keeps the stored value or omits the property if none is stored; a missing property is removed", () => {
  const stored = { key: "k", mail: { password: "p", host: "h" } };
  const secrets = ["/key", "/pin", "/mail/password"];
  const given = { key: null, pin: null, mail: { password: null } };
  assert.deepEqual(keepSecrets(given, stored, secrets), {
    config: { key: "k", mail: { password: "p" } },
    kept: ["/key", "/mail/password"],
  });
  assert.deepEqual(keepSecrets({ mail: {} }, stored, secrets), { config: { mail: {} }, kept: [] });
});

test("redacts and keeps a secret object as a whole, also if a part of it is marked too", () => {
  const stored = { mail: { host: "h", password: "p" } };
  const secrets = ["/mail", "/mail/password"];
  assert.deepEqual(redact(stored, secrets), { mail: null });
  assert.deepEqual(keepSecrets({ mail: null }, stored, secrets), { config: stored, kept: ["/mail"] });
  assert.deepEqual(keepSecrets({ mail: { host: "new", password: null } }, stored, secrets), {
    config: { mail: { host: "new", password: "p" } },
    kept: ["/mail/password"],
  });
});

test("redacts every value if everything is secret, and null keeps any of them", () => {
  const stored = { a: 1, b: { c: 2 }, "d/e": 3 };
  assert.deepEqual(redact(stored, [everything]), { a: null, b: null, "d/e": null });
  assert.deepEqual(keepSecrets({ a: null, b: { c: null }, "d/e": null, f: null }, stored, [everything]), {
    config: { a: 1, b: { c: null }, "d/e": 3 },
    kept: ["/a", "/d~1e"],
  });
});

test("a property may be called __proto__", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string","writeOnly":true}}}',
  ) as ConfigSchema;
  const config = JSON.parse('{"__proto__":"secret","open":1}') as Record<string, unknown>;
  const secrets = findSecrets(schema);
  assert.equal(JSON.stringify(redact(config, secrets)), '{"__proto__":null,"open":1}');
  assert.equal(JSON.stringify(keepSecrets(redact(config, secrets), config, secrets).config), JSON.stringify(config));
});
