import assert from "node:assert/strict";
import type { InstallationDto, LaunchDto } from "@ehr-marketplace/contracts";
import { ask, askAt, type Callers, eventually, type Question } from "@ehr-marketplace/tests/support";

const aliases: Record<string, string> = {
  riverside: "riverside-clinic",
  hilltop: "hilltop-family-practice",
  unregistered: "unregistered-clinic",
  new: "new-clinic",
};
const [both, hilltopsOnly] = ["northwind-scribe", "lumen-schedule"];

/** Both practices have one app, and Hilltop has another, as the marketplace has it. */
export async function prepareEhr(
  urls: { ehr: string; marketplace: string },
  callers: Callers,
): Promise<{ question(route: string, on: string): Promise<Question> }> {
  const operator = callers.token("operator");
  const secret = "a secret of the matrix";
  const asked = async (path: string, body?: object, method = "POST"): Promise<Response> =>
    askAt(`${urls.ehr}/api${path}`, operator, { method, ...(body === undefined ? {} : { body }) });

  for (const [slug, orgAlias] of [
    [both, "riverside-clinic"],
    [both, "hilltop-family-practice"],
    [hilltopsOnly, "hilltop-family-practice"],
  ]) {
    const plans = (await (await ask(urls.marketplace, `/apps/${slug}/pricing`, operator)).json()) as { id: string }[];
    const body = { appSlug: slug, orgAlias, pricingPlanId: plans[0]?.id };
    const created = await ask(urls.marketplace, "/subscriptions", operator, { body });
    assert.equal(created.status, 201, await created.text());
    const reconciled = await asked(`/admin/organisations/${orgAlias}/reconcile`);
    assert.equal(reconciled.status, 200, await reconciled.text());
  }
  const configurable = async (slug: string): Promise<boolean> => {
    const headers = { "x-org-alias": aliases["hilltop"] ?? "" };
    const path = `${urls.ehr}/api/app-installations/${slug}/config`;
    const answer = await askAt(path, operator, { method: "PUT", body: {}, headers });
    return answer.status === 200 && ((await answer.json()) as { data: InstallationDto }).data.appSlug === slug;
  };
  for (const slug of [both, hilltopsOnly]) {
    await eventually(`${slug} can be configured`, 15_000, () => configurable(slug));
  }

  /** What the authorization server got with the app's request. */
  const launched = async (): Promise<string | null> => {
    const path = `${urls.ehr}/api/app-installations/${both}/launch`;
    const answer = await askAt(path, callers.token("riverside-member"), { body: {} });
    const { data } = (await answer.json()) as { data: LaunchDto };
    return new URL(data.launchUrl ?? "").searchParams.get("launch");
  };

  return {
    async question(route, on) {
      const [, pattern = ""] = route.split(" ");
      const [whose = "", app = "app of both"] = on.split(", ");
      const alias = aliases[whose.split(" ")[0] ?? ""] ?? "";
      const path = pattern.replace(":appSlug", app === "app of both" ? both : hilltopsOnly).replace(":alias", alias);
      const headers: Record<string, string> = whose.endsWith("by name") ? { "x-org-alias": alias } : {};
      const last = pattern.split("/").at(-1);
      if (last === "consume") {
        const orgAlias = aliases["riverside"];
        return { path, body: { launch: await launched(), orgAlias, appSlug: both, user: "riverside-member" } };
      }
      if (last === "secret") return { path, body: { secret } };
      if (last === "launch") return { path, headers, body: {} };
      if (route.startsWith("PUT") && last === "config") return { path, headers, body: {} };
      return { path, headers };
    },
  };
}
