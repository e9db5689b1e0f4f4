import { test } from "node:test";
import { testMarketplace } from "./run-schemathesis.ts";

test("the marketplace's routes of publishing respond to generated requests as its OpenAPI document says", (t) =>
  testMarketplace(t, "--include-path-regex"));
