import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ListedSubscriptionDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { assertNoBrokenWords } from "@ehr-marketplace/tests/support/console";
import { consoleApi as api, fail, fastForwardUntil } from "@ehr-marketplace/tests/support/console-responses";
import type { Page } from "playwright-core";

/** While the estimate fails, the dialog says so and can't be confirmed. Trying again brings the price. */
export async function assertNotConfirmedWithoutPrice(
  page: Page,
  verb: string,
  openDialog: () => Promise<void>,
): Promise<void> {
  await page.route(api.quote, fail);
  await openDialog();
  const dialog = page.getByRole("dialog").last();
  const button = dialog.getByRole("button", { name: verb, exact: true });
  await fastForwardUntil(page, dialog.getByText("request-of-a-test"));
  assert.ok(await button.isDisabled());
  await assertAccessible(page, `${verb}: the price can't be calculated`);
  await page.unroute(api.quote);
  await dialog.getByRole("button", { name: "Try again" }).click();
  await button.click({ trial: true });
  await dialog.getByText("request-of-a-test").waitFor({ state: "hidden" });
}

/** Two tabs have the same form open. The one that saves last is told, and decides whose entries count. */
export async function assertNotOverwritten(
  page: Page,
  path: string,
  label: string,
  [first, second, third]: readonly [string, string, string],
): Promise<void> {
  const other = await page.context().newPage();
  const field = page.getByLabel(label);
  const save = async (tab: Page, value: string, says: string): Promise<void> => {
    await tab.getByLabel(label).fill(value);
    await tab.getByRole("button", { name: /^Save/ }).click();
    await tab.getByText(says).waitFor();
  };
  await Promise.all([page.goto(path), other.goto(path)]);
  await field.waitFor();
  await save(other, first, "are saved.");
  await save(page, second, "Somebody has saved other entries meanwhile");
  assert.equal(await field.inputValue(), second, "what was entered stays");
  await assertAccessible(page, `${path}: saved meanwhile`);
  await page.getByRole("button", { name: "Load the saved entries" }).click();
  await page.getByRole("alert").waitFor({ state: "hidden" });
  assert.equal(await field.inputValue(), first);
  await save(page, second, "are saved.");
  await save(other, third, "Somebody has saved other entries meanwhile");
  await other.getByRole("button", { name: "Overwrite with mine" }).click();
  await other.getByText("are saved.").waitFor();
  await page.reload();
  await field.waitFor();
  assert.equal(await field.inputValue(), third);
  await other.close();
}

/** What the page after subscribing says of each state of the app's sign-in. */
export async function assertSignInSteps(page: Page, path: string): Promise<void> {
  for (const [status, reason, says] of [
    ["ready", null, "The app can sign in"],
    ["failed", "The key has expired.", "The app can't sign in: The key has expired."],
    ["failed", null, "Tell your EHR's operator"],
    ["pending", null, "Sign-in of the app is being set up"],
  ] as const) {
    await page.route(api.installation, async (route) => {
      const response = await route.fetch();
      const { data, ...rest } = (await response.json()) as { data: object };
      await route.fulfill({ response, json: { ...rest, data: { ...data, connection: { status, reason } } } });
    });
    await page.goto(path);
    await page.getByText(says).waitFor();
    await assertAccessible(page, `sign-in: ${says}`);
    await page.unroute(api.installation);
  }
}

/** Of more apps than the overview shows, those that need attention are shown, and how many there are. */
export async function assertAttentionFirst(page: Page, path: string): Promise<void> {
  await page.route(api.subscriptions, async (route) => {
    const response = await route.fetch();
    const [first] = (await response.json()) as SubscriptionDto[];
    const last = { status: "paused", pauseReason: "SECURITY" } as const;
    const json = Array.from({ length: 10 }, (_, nth) => ({ ...first, id: randomUUID(), ...(nth === 9 && last) }));
    await route.fulfill({ response, json });
  });
  await page.goto(path);
  await page.getByText("8 of 10 apps. Those that need attention come first.").waitFor();
  await page.locator(".app-row").first().getByText("Paused: for security").waitFor();
  await assertAccessible(page, "overview: many apps");
  await page.unroute(api.subscriptions);
}

/** Of names and states, in windows of every width. */
export async function assertWordsStayWhole(page: Page, practice: string): Promise<void> {
  const names = ["Northwind Referrals", "Northwind Scribe", "Pocket Phrasebook"];
  await page.route(api.subscriptions, async (route) => {
    const response = await route.fetch();
    const all = (await response.json()) as ListedSubscriptionDto[];
    const json = all.map((each, index) => ({
      ...each,
      app: { ...each.app, name: names[index] },
      ...(index === 0 && { status: "paused", pauseReason: "OPERATOR_HOLD" }),
    }));
    await route.fulfill({ response, json });
  });
  for (const [path, shown] of [
    [practice, page.getByText("Paused: held by the marketplace")],
    [`${practice}/subscriptions`, page.getByText("Paused: held by the marketplace")],
    [`${practice}/apps`, page.getByRole("link", { name: /^Settings of/ }).first()],
  ] as const) {
    await page.goto(path);
    for (const width of [1280, 1024, 800, 390, 320]) {
      await page.setViewportSize({ width, height: 720 });
      await shown.waitFor();
      await assertNoBrokenWords(page, `${path} in ${width} pixels`);
    }
  }
}
