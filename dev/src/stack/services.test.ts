import assert from "node:assert/strict";
import { test } from "node:test";
import { readPorts } from "./ports.ts";
import { checkEnvironments, marketplaceService, type StackContext, workerService } from "./services.ts";

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

test("an origin with a slash at its end is refused before anything is started", () => {
  const { ALLOWED_ORIGINS: given } = process.env;
  process.env["ALLOWED_ORIGINS"] = "http://localhost:7000/";
  try {
    assert.throws(() => checkEnvironments(readPorts()), /ALLOWED_ORIGINS: .* write http:\/\/localhost:7000\./);
  } finally {
    if (given === undefined) delete process.env["ALLOWED_ORIGINS"];
    else process.env["ALLOWED_ORIGINS"] = given;
  }
});
