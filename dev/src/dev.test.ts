import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";

describe("npm run dev starts nothing", () => {
  for (const [what, environment, args, reason] of [
    [
      "if two services have the same port",
      { MARKETPLACE_PORT: "20710", EHR_PORT: "20710", IDP_PORT: "20712" },
      [],
      /^MARKETPLACE_PORT and EHR_PORT are both 20710\./,
    ],
    [
      "if a service has a port that is derived from IDP_PORT",
      { MARKETPLACE_PORT: "20714", EHR_PORT: "20711", IDP_PORT: "20712" },
      [],
      /^MARKETPLACE_PORT and IDP_PORT \+ 2 are both 20714\./,
    ],
    [
      "if a debugger has the port of a service",
      { MARKETPLACE_PORT: "20710", EHR_PORT: "20711", IDP_PORT: "20712", INSPECT_PORT: "20709" },
      ["--inspect"],
      /^MARKETPLACE_PORT and INSPECT_PORT \+ 1 are both 20710\./,
    ],
    [
      "if ALLOWED_ORIGINS has a slash at its end",
      { ALLOWED_ORIGINS: "http://localhost:7000/" },
      [],
      /^The configuration is invalid:\n {2}ALLOWED_ORIGINS: .* write http:\/\/localhost:7000\./,
    ],
    [
      "if a variable of the worker is invalid",
      { DELIVERIES_IN_FLIGHT: "many" },
      [],
      /^The configuration is invalid:\n {2}DELIVERIES_IN_FLIGHT: "many" is not a whole number/,
    ],
  ] as const) {
    test(`${what}, and says so`, () => {
      const script = join(import.meta.dirname, "dev.ts");
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--ephemeral", ...args], {
        env: { PATH: process.env["PATH"], ...environment },
        encoding: "utf8",
        timeout: 60_000,
      });
      assert.match(stderr.trimStart(), reason);
      assert.deepEqual([status, stdout], [1, ""]);
    });
  }
});
