import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import {
  assertUsesExported,
  type Exported,
  readAlertRules,
  readRuleTests,
} from "@ehr-marketplace/tests/support/alert-rules";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { startWeb } from "@ehr-marketplace/tests/support/web";

interface Measured {
  url: string;
  server?: { routesAndAccess: readonly { url: string }[] };
}

async function readExported({ url, server }: Measured): Promise<Exported> {
  const measured = await (await fetch(`${url}/metrics`)).text();
  return {
    metrics: new Set([...measured.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name)),
    routes: server?.routesAndAccess.map((route) => route.url) ?? [],
  };
}

test("every alert says what it means and what to do, and has a rule test in which it stays quiet and then fires", async () => {
  for (const [file, rules] of await readAlertRules()) {
    const cases = await readRuleTests(file);
    for (const { alert, text } of rules) {
      for (const field of ["expr", "summary", "description", "runbook"]) {
        assert.match(text, new RegExp(`^ +${field}: \\S`, "m"), `${alert} has ${field}`);
      }
      const [, severity = ""] = /^ +severity: (page|ticket)$/m.exec(text) ?? [];
      const own = cases.filter(([name]) => name === alert).map(([, each]) => each);
      assert.ok(own.length > 0, `${alert} has a case in deploy/prometheus/tests/${file}.test.yml`);
      const firing = `ALERTS{alertname="${alert}",alertstate="firing"}`;
      for (const each of own) {
        const [quiet, fires, ...others] = each.split("eval_time:").slice(1);
        assert.deepEqual(others, []);
        for (const checked of [quiet, fires]) assert.ok(checked?.includes(firing), `${alert}: ${checked}`);
        assert.doesNotMatch(quiet ?? "", /exp_samples/, `${alert} stays quiet first`);
        assert.match(
          fires ?? "",
          new RegExp(`exp_samples: \\[.*\\{severity="${severity}"\\}.* value: 1 `),
          `${alert} fires then`,
        );
      }
    }
    assert.deepEqual(
      cases.map(([alert]) => alert).filter((name) => !rules.some(({ alert }) => alert === name)),
      [],
      `${file}.test.yml has cases of these alerts, which don't exist`,
    );
  }
});

test("every alert uses metrics that the processes export, and routes that they have", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const ehr = await startEhr(cleanUp, (await cloneDatabase(cleanUp, "ehr")).serviceUrl, {
    MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token",
    MARKETPLACE_CLIENT_ID: "ehr-service",
    MARKETPLACE_CLIENT_SECRET: "unused",
  });
  const mail = { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "notices@example.com" };
  const services = {
    "marketplace-api": await readExported(await startMarketplace(cleanUp, serviceUrl)),
    "marketplace-worker": await readExported(await startWorkerProcess(cleanUp, serviceUrl, { environment: mail })),
    "ehr-api": await readExported(ehr),
    web: await readExported(await startWeb(cleanUp)),
  };
  const rules = [...(await readAlertRules()).values()].flat();
  assert.ok(rules.length >= 50, `${rules.length} alerts`);
  for (const rule of rules) assertUsesExported(rule, services);
});
