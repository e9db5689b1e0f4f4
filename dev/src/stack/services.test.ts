import assert from "node:assert/strict";
import { test } from "node:test";
import { readPorts } from "./ports.ts";
import { marketplaceService, type StackContext, workerService } from "./services.ts";

test("links in the worker's mails lead to the marketplace's port", () => {
  const database = { serviceUrl: "postgres://127.0.0.1/unused" };
  const context: StackContext = {
    ports: { ...readPorts(), marketplace: 8123 },
    databases: { marketplace: database, ehr: database, web: database },
    identityProvider: { issuer: "http://127.0.0.1:8082", jwksUrl: "http://127.0.0.1:8082/jwks" },
    mediaDirectory: "unused",
  };
  const expected = process.env["PUBLIC_URL"] || "http://127.0.0.1:8123";
  for (const service of [marketplaceService, workerService])
    assert.equal(service(context).environment["PUBLIC_URL"], expected);
});
