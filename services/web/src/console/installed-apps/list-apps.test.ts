import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { listApps } from "./list-apps.ts";

const installation = (subscriptionId: string): InstallationDto => ({
  id: `i-${subscriptionId}`,
  appId: "a",
  appSlug: `app-${subscriptionId}`,
  name: `App ${subscriptionId}`,
  iconUrl: "https://media.example/icon",
  category: "DOCUMENTATION",
  extensionPoints: [],
  smartLaunchUrl: null,
  cdsServicesUrl: null,
  fhirScopes: "",
  status: "paused",
  subscriptionId,
  connection: null,
  config: {},
  installedAt: "2026-11-17T10:00:00.000Z",
  updatedAt: "2026-11-17T10:00:00.000Z",
});

test("lists live subscriptions that the EHR hasn't installed before what it has", () => {
  const subscribed = [
    { id: "1", appSlug: "app-1", status: "active", app: { name: "App 1", iconUrl: "https://media.example/icon" } },
    { id: "2", appSlug: "app-2", status: "active" },
    { id: "3", appSlug: "app-3", status: "cancelled" },
  ] as const;
  assert.deepEqual(
    listApps([installation("1")], [...subscribed]).map((each) => [each.name, each.status, each.installation?.id]),
    [
      ["app-2", "active", undefined],
      ["App 1", "paused", "i-1"],
    ],
  );
  assert.equal(listApps([installation("1")], []).length, 1);
});
