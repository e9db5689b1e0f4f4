import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startWeb } from "@ehr-marketplace/tests/support/web";

interface Measured {
  url: string;
  server: { routesAndAccess: readonly { url: string }[] };
}

async function assertComplete(rulesFile: string, { url, server }: Measured): Promise<void> {
  const measured = await (await fetch(`${url}/metrics`)).text();
  const names = new Set([...measured.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const routes = [...new Set(server.routesAndAccess.map((route) => route.url))];

  const file = new URL(`../../deploy/prometheus/${rulesFile}`, import.meta.url);
  const rules = (await readFile(file, "utf8")).split(/^ {6}- alert: /m).slice(1);
  assert.ok(rules.length >= 8, `${rules.length} alerts`);
  for (const rule of rules) {
    const [alert = ""] = rule.split("\n", 1);
    for (const field of ["expr", "severity", "summary", "description", "runbook"]) {
      assert.match(rule, new RegExp(`^ +${field}: \\S`, "m"), `${alert} has ${field}`);
    }
    const usedMetrics = [
      ...rule.matchAll(
        /\b(?:http|client|launch|launches|reconciliation|subscriptions|database|nodejs|process)_[a-z_]+\b(?!=)/g,
      ),
    ].map(([name]) => name.replace(/_(bucket|count)$/, ""));
    assert.ok(usedMetrics.length > 0, alert);
    for (const name of usedMetrics) assert.ok(names.has(name), `${alert} uses ${name}, which no process exports`);
    for (const [, patterns = ""] of rule.matchAll(/\broute=~?"([^"]+)"/g)) {
      for (const pattern of patterns.split("|")) {
        const matcher = new RegExp(`^(?:${pattern})$`);
        assert.ok(
          routes.some((route) => matcher.test(route)),
          `${alert}: there is no route ${pattern}`,
        );
      }
    }
  }
}

test("every alert of the EHR uses existing metrics and has a summary, a description and a runbook", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const ehr = await startEhr(cleanUp, serviceUrl, {
    MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token",
    MARKETPLACE_CLIENT_ID: "ehr-service",
    MARKETPLACE_CLIENT_SECRET: "unused",
  });
  await assertComplete("ehr-alerts.yml", ehr);
});

test("every alert of the web uses existing metrics and has a summary, a description and a runbook", async (t) => {
  await assertComplete("web-alerts.yml", await startWeb(cleanUpAfter(t)));
});
