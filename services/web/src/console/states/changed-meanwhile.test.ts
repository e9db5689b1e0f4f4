import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangedMeanwhileError, refuseIfChanged } from "./changed-meanwhile.ts";

test("saving is refused if what the form was filled with isn't what is stored, and then has that", () => {
  const stored = { config: { language: "fr-CA", apiKey: null } };
  refuseIfChanged({ language: "fr-CA", apiKey: null }, stored.config, stored);
  assert.throws(
    () => refuseIfChanged({ language: "en-US", apiKey: null }, stored.config, stored),
    (error) => error instanceof ChangedMeanwhileError && error.stored === stored,
  );
});
