import { test } from "node:test";
import { testMarketplace } from "./run-schemathesis.ts";

test("the marketplace's other routes respond to generated requests as its OpenAPI document says", (t) =>
  testMarketplace(t, "--exclude-path-regex"));
