import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import type { AppDto, AppPage } from "@ehr-marketplace/contracts";
import { requestAccessToken } from "@ehr-marketplace/dev/identity-provider/client";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type DevStack, launchChromium, startDevStack } from "@ehr-marketplace/tests/support";

async function assertStops(stack: DevStack, signal: NodeJS.Signals): Promise<void> {
  stack.signal(signal);
  // npm exits at once; its child process prints when it has stopped.
  await eventually("the stack prints stopped", 30_000, () => /^stopped$/m.test(stack.output()));
  await assert.rejects(fetch(stack.marketplaceUrl));
}

/** Sends what a browser sends for a page of this origin: a preflight request, and then the request with its token. */
async function assertCallable({ marketplaceUrl, ehrUrl, ports }: DevStack, origin: string): Promise<void> {
  const token = await requestAccessToken(`http://127.0.0.1:${ports.IDP_PORT}`, "riverside-admin");
  for (const url of [
    `${marketplaceUrl}/api/v1/subscriptions?orgAlias=riverside-clinic`,
    `${ehrUrl}/api/app-installations`,
  ]) {
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
      },
    });
    const allowed = (name: string): string | null => preflight.headers.get(`access-control-allow-${name}`);
    assert.deepEqual([preflight.status, allowed("origin")], [204, origin], url);
    assert.match(allowed("methods") ?? "", /GET.*POST.*PUT/);
    assert.equal(allowed("headers"), "authorization,content-type,idempotency-key");
    const response = await fetch(url, { headers: { origin, authorization: `Bearer ${token}` } });
    assert.deepEqual([response.status, response.headers.get("access-control-allow-origin")], [200, origin], url);
  }
}

/** Sign-in leads to the identity provider, whose page needs cookies. */
async function assertServed(url: string): Promise<void> {
  const isSignIn = url.endsWith("/login");
  const { status } = await fetch(url, { redirect: isSignIn ? "manual" : "follow" });
  assert.equal(status, isSignIn ? 303 : 200, url);
}

describe("the development stack of a new user", () => {
  const cleanUp = cleanUpAfter();
  let stack: DevStack;
  before(async () => {
    stack = await startDevStack(cleanUp);
  });

  test("serves every URL that it prints, and a catalog with images", async () => {
    const { marketplaceUrl } = stack;
    for (const [, url = ""] of stack.output().matchAll(/^ {2}\S.*?(http:\/\/\S+)/gm)) await assertServed(url);
    const page = (await (await fetch(`${marketplaceUrl}/api/v1/apps?size=100`)).json()) as AppPage;
    assert.equal(page.totalElements, 60);
    const pictures = page.content.flatMap(({ iconUrl, screenshots }: AppDto) => [
      { url: iconUrl, type: "image/png" },
      ...screenshots.map((url) => ({ url, type: "image/webp" })),
    ]);
    for (const { url, type } of pictures) {
      assert.ok(url.startsWith(`${marketplaceUrl}/media/`));
      const response = await fetch(url);
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], url);
      assert.equal((await response.arrayBuffer()).byteLength, Number(response.headers.get("content-length")));
    }
  });

  test("has an index at / of each process without pages, whose links lead somewhere", async () => {
    for (const url of [stack.marketplaceUrl, stack.ehrUrl, stack.workerUrl]) {
      type Index = { title: string; links: Record<string, string> };
      const index = (await (await fetch(url)).json()) as Index | { data: Index };
      const { title, links } = "data" in index ? index.data : index;
      assert.ok(title.includes("EHR") && "health" in links, url);
      for (const path of Object.values(links)) await assertServed(url + path);
    }
  });

  test("lets a front end on another port call both APIs with a token", async () => {
    for (const origin of ["http://localhost:5173", "http://127.0.0.1:3000"]) await assertCallable(stack, origin);
    const response = await fetch(`${stack.marketplaceUrl}/api/v1/subscriptions`, {
      headers: { origin: "http://localhost" },
    });
    assert.equal(response.headers.get("access-control-allow-origin"), null);
  });

  test("renders the API reference in a browser without loading anything from other origins", async () => {
    const { marketplaceUrl } = stack;
    const browser = await launchChromium(cleanUp);
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(120_000);
    const otherOrigins: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(marketplaceUrl) && !request.url().startsWith("data:"))
        otherOrigins.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    // From the overview to the health of the process, the problems and the reference, by the links that they have.
    await page.goto(marketplaceUrl);
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { name: "Ready" }).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Problems" }).click();
    await page.getByRole("link", { name: "forbidden" }).click();
    await page.getByRole("heading", { name: "The caller is not allowed to do this" }).waitFor();
    await page.goto(`${marketplaceUrl}/api/v1`);
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: "EHR Marketplace API" }).waitFor();
    await page.getByText("Search apps").first().waitFor();
    await page.getByText("Get an app's pricing").last().scrollIntoViewIfNeeded();
    await page.goto(`${marketplaceUrl}/docs#tag/events`);
    await page.getByText("A practice subscribed to an app").first().waitFor();
    await page.evaluate("document.fonts.ready");
    assert.deepEqual({ otherOrigins, errors }, { otherOrigins: [], errors: [] });
  });

  test("signs a demo user in and out with a browser", async () => {
    const { webUrl } = stack;
    const browser = await launchChromium(cleanUp);
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(webUrl);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Mara Lindqvist" }).click();
    await page.getByRole("button", { name: "Account of Mara Lindqvist" }).click();
    await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${webUrl}/`);
    await page.goto(`${webUrl}/console`);
    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
  });

  test("stops on SIGINT", () => assertStops(stack, "SIGINT"));
});

for (const [step, next] of [
  ["Starting PostgreSQL", "Migrating the databases"],
  ["Starting the marketplace, its worker, the EHR and the web", "ready"],
] as const) {
  test(`the development stack, stopped during "${step}", begins no further step`, async (t) => {
    const stack = await startDevStack(cleanUpAfter(t), { until: new RegExp(step) });
    await assertStops(stack, "SIGINT");
    assert.match(stack.output(), /^SIGINT: stopping after the current step …$/m);
    assert.ok(!stack.output().includes(next), stack.output());
    await eventually("all processes have exited", 15_000, async () => (await processesOf(stack)).length === 0);
  });
}

test("the development stack allows the origins in ALLOWED_ORIGINS, and stops on SIGTERM", async (t) => {
  const origin = "http://localhost:7777";
  const stack = await startDevStack(cleanUpAfter(t), { environment: { ALLOWED_ORIGINS: origin } });
  await assertCallable(stack, origin);
  await assertStops(stack, "SIGTERM");
});

/** Finds the processes that have the stack's port in their environment, including npm. */
async function processesOf(stack: DevStack): Promise<string[]> {
  const marker = `MARKETPLACE_PORT=${new URL(stack.marketplaceUrl).port}\0`;
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(ids.map((id) => readFile(`/proc/${id}/environ`, "utf8").catch(() => "")));
  return ids.filter((_id, index) => environments[index]?.includes(marker));
}

test("a killed development stack leaves no process behind", async (t) => {
  const stack = await startDevStack(cleanUpAfter(t));
  assert.ok((await processesOf(stack)).length > 3);
  stack.signal("SIGKILL");
  await eventually("all processes have exited", 15_000, async () => (await processesOf(stack)).length === 0);
});
