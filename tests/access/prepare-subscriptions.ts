import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import type { AppDto, AppPage, SearchSynonyms, SubscriptionDto } from "@ehr-marketplace/contracts";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import type { MatrixRequest } from "@ehr-marketplace/tests/support/permission-matrix";

export interface RequestBuilder {
  /** Builds the request for a row of the matrix and brings the resource into the state that the row names. */
  buildRequest(route: string, on: string): Promise<MatrixRequest>;
}

export const aliases: Record<string, string> = {
  riverside: "riverside-clinic",
  hilltop: "hilltop-family-practice",
  unregistered: "unregistered-clinic",
};

/** In UTC. */
export const currentMonth = (): string => new Date().toISOString().slice(0, 7);

export async function prepareSubscriptions(url: string, operator: string): Promise<RequestBuilder> {
  const read = async <T>(path: string): Promise<T> => (await (await sendApiRequest(url, path, operator)).json()) as T;
  const { content } = await read<AppPage>("/apps?size=100");
  const bySlug = new Map(content.map((app: AppDto) => [app.slug, app]));
  type Plan = { id: string; pricingModel: string; amount: number | string | null; trialDays: number };
  const plansOf = (slug: string): Promise<Plan[]> => read(`/apps/${slug}/pricing`);
  const planOf = async (slug: string): Promise<string> => {
    const plans = await plansOf(slug);
    const plan = plans.find(({ pricingModel }) => pricingModel === "USAGE") ?? plans[0];
    return plan?.id ?? assert.fail(`${slug} has no plan`);
  };
  const bodyFor = async (appSlug: string, orgAlias: string): Promise<Record<string, string>> => ({
    appSlug,
    orgAlias,
    pricingPlanId: await planOf(appSlug),
  });
  const act = (id: string, action: string, body?: object): Promise<Response> =>
    sendApiRequest(url, `/subscriptions/${id}/${action}`, operator, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });

  const appOf = (vendor: string): string =>
    [...bySlug.values()].find((app) => app.vendor.slug === vendor)?.slug ?? assert.fail(vendor);
  const spare = [...bySlug.keys()].filter(
    (slug) => slug !== "northwind-scribe" && slug !== appOf("northwind-health") && slug !== appOf("lumen-medical"),
  );

  async function takeAppWithPlans(): Promise<string> {
    for (const [index, slug] of spare.entries()) {
      if ((await plansOf(slug)).length < 2) continue;
      spare.splice(index, 1);
      return slug;
    }
    return assert.fail("no app has two plans");
  }

  const subscribe = async (appSlug: string, orgAlias: string, plan?: Plan): Promise<string> => {
    const body = { ...(await bodyFor(appSlug, orgAlias)), ...(plan === undefined ? {} : { pricingPlanId: plan.id }) };
    const response = await sendApiRequest(url, "/subscriptions", operator, { body });
    assert.equal(response.status, 201, await response.clone().text());
    return ((await response.json()) as SubscriptionDto).id;
  };
  /** Some cents are charged for it on its first day. */
  async function subscribeCharged(): Promise<string> {
    for (const slug of bySlug.keys()) {
      const isCharged = ({ pricingModel, amount, trialDays }: Plan) =>
        pricingModel === "FLAT" && Number(amount) >= 1_000 && trialDays === 0;
      const plan = (await plansOf(slug)).find(isCharged);
      if (plan !== undefined && slug !== "northwind-scribe") return subscribe(slug, "metered-clinic", plan);
    }
    return assert.fail("no app costs something from its first day");
  }

  // An organisation of its own: the others may subscribe to the app elsewhere.
  const metered = { method: "PUT", body: { displayName: "Metered Clinic" } };
  assert.equal((await sendApiRequest(url, "/admin/organisations/metered-clinic", operator, metered)).status, 201);
  const existing = {
    "riverside to northwind's": await subscribe(appOf("northwind-health"), "riverside-clinic"),
    "hilltop to lumen's": await subscribe(appOf("lumen-medical"), "hilltop-family-practice"),
    "northwind's, by usage": await subscribe("northwind-scribe", "metered-clinic"),
    "a charged one": await subscribeCharged(),
    "an unknown id": randomUUID(),
  };

  /** An app whose subscribers can choose between plans. */
  const changeable = await takeAppWithPlans();

  /** One app for each row that writes, so that rows don't affect each other. */
  const rows = new Map<string, { slug: string; id: string | undefined }>();
  const slugFor = (row: string): string =>
    row.includes("/plan ") ? changeable : (spare.pop() ?? assert.fail("all apps are used"));
  const ofRow = (row: string): { slug: string; id: string | undefined } => {
    const known = rows.get(row) ?? { slug: slugFor(row), id: undefined };
    rows.set(row, known);
    return known;
  };

  const live = async (row: string, alias: string): Promise<string> => {
    const mine = ofRow(row);
    const status = mine.id && (await read<SubscriptionDto>(`/subscriptions/${mine.id}`)).status;
    if (mine.id !== undefined && status !== "cancelled") {
      await act(mine.id, "resume");
      return mine.id;
    }
    if (mine.id !== undefined) await act(mine.id, "lift-block");
    mine.id = await subscribe(mine.slug, alias);
    return mine.id;
  };

  const currentScopesOf = async (id: string): Promise<string> => {
    const { appSlug } = await read<{ appSlug?: string }>(`/subscriptions/${id}`);
    return bySlug.get(appSlug ?? "")?.fhirScopes ?? "launch";
  };

  return {
    async buildRequest(route, on) {
      const [who = "", reason = ""] = on.split(", ");
      const alias = aliases[who] ?? "";
      const action = route.split("/").at(-1) ?? "";
      if (route.startsWith("GET /api/v1/admin/") && on === "all") {
        return { path: (route.split(" ")[1] ?? "").replace(":month", currentMonth()) };
      }
      if (route === "PUT /api/v1/admin/search-synonyms") {
        const current = await sendApiRequest(url, "/admin/search-synonyms", operator);
        const { synonyms } = (await current.json()) as SearchSynonyms;
        return {
          path: "/api/v1/admin/search-synonyms",
          method: "PUT",
          body: { synonyms: [...synonyms, { synonyms: ["quokka", randomUUID()] }] },
          headers: { "if-match": current.headers.get("etag") ?? "" },
        };
      }
      if (route.includes("/organisations")) {
        const path = route.split(" ")[1]?.replace(":alias", alias).replace(":month", currentMonth()) ?? "";
        const callback = { callbackUrl: "http://127.0.0.1:8081", callbackNetworks: ["127.0.0.0/8"] };
        if (action === "import") {
          const body = { alias, displayName: `Riverside Clinic ${randomUUID()}`, ...callback };
          return { path, body, headers: { "content-type": "application/x-ndjson" } };
        }
        if (!route.startsWith("PUT")) return { path };
        return { path, body: { displayName: "Riverside Clinic", ...callback } };
      }
      if (route === "POST /api/v1/subscriptions") {
        const mine = ofRow(`${route} ${on}`);
        const listed = await read<SubscriptionDto[]>(`/subscriptions?orgAlias=${alias}`);
        for (const { id, appSlug } of listed) if (appSlug === mine.slug) await act(id, "cancel");
        return { path: "/api/v1/subscriptions", body: await bodyFor(mine.slug, alias) };
      }
      if (route === "GET /api/v1/subscriptions") return { path: `/api/v1/subscriptions?orgAlias=${alias}` };
      const named = existing[on as keyof typeof existing] as string | undefined;
      const id = named ?? (await live(`${route} ${on}`, alias));
      const path = (route.split(" ")[1] ?? "").replace(":id", id);
      // A report that changes nothing leaves no audit entry.
      if (route.startsWith("PUT") && action === "connection") {
        return { path, body: { status: "pending", reason: randomUUID() } };
      }
      if (route.startsWith("POST") && action === "usage") {
        const record = { id: randomUUID(), metric: "notes", quantity: 1, occurredAt: new Date().toISOString() };
        return { path, body: { records: [record] } };
      }
      if (action === "credits") {
        return { path, body: { amount: 1, text: "Outage" }, headers: { "idempotency-key": randomUUID() } };
      }
      if (action === "plan") {
        // The plan that it has changes nothing, and leaves no audit entry.
        const { pricingPlanId } = await read<Partial<SubscriptionDto>>(`/subscriptions/${id}`);
        const other = (await plansOf(changeable)).find((plan) => plan.id !== pricingPlanId);
        return { path, body: { pricingPlanId: other?.id } };
      }
      if (route.startsWith("PUT") && action === "spend-limit") {
        return { path, body: { amount: randomInt(1_000_000, 1_000_000_000), onReached: "notify" } };
      }
      if (route.startsWith("DELETE") && action === "spend-limit") {
        const body = { amount: 1_000_000, onReached: "notify" };
        await sendApiRequest(url, `/subscriptions/${id}/spend-limit`, operator, { method: "PUT", body });
      }
      if (action === "pause") return { path, body: { reason } };
      if (action === "consent") return { path, body: { fhirScopes: await currentScopesOf(id) } };
      if (action === "resume" || action === "lift-block") await act(id, "pause", { reason });
      if (action === "lift-block") await act(id, "cancel");
      return { path };
    },
  };
}
