import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { AppClientDto, InstallationDto, LaunchDto } from "@ehr-marketplace/contracts";
import { eventually, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import type { MatrixRequest } from "@ehr-marketplace/tests/support/permission-matrix";

const aliases: Record<string, string> = {
  riverside: "riverside-clinic",
  hilltop: "hilltop-family-practice",
  unregistered: "unregistered-clinic",
  new: "new-clinic",
};
const [sharedApp, hilltopApp] = ["northwind-scribe", "lumen-schedule"];

/** Subscribes the practices to one app and Hilltop to another, and builds requests for rows of the matrix. */
export async function prepareEhr(
  urls: { ehr: string; marketplace: string; ehrOwner?: string },
  callers: Callers,
): Promise<{ buildRequest(route: string, on: string): Promise<MatrixRequest> }> {
  const operator = callers.token("operator");
  const secret = "a secret of the matrix";
  const sendAsOperator = async (path: string, body?: object, method = "POST"): Promise<Response> =>
    sendRequest(`${urls.ehr}/api${path}`, operator, { method, ...(body === undefined ? {} : { body }) });

  for (const [slug, orgAlias] of [
    [sharedApp, "riverside-clinic"],
    [sharedApp, "hilltop-family-practice"],
    [hilltopApp, "hilltop-family-practice"],
  ]) {
    const plans = (await (await sendApiRequest(urls.marketplace, `/apps/${slug}/pricing`, operator)).json()) as {
      id: string;
    }[];
    const body = { appSlug: slug, orgAlias, pricingPlanId: plans[0]?.id };
    const created = await sendApiRequest(urls.marketplace, "/subscriptions", operator, { body });
    assert.equal(created.status, 201, await created.text());
    const reconciled = await sendAsOperator(`/admin/organisations/${orgAlias}/reconcile`);
    assert.equal(reconciled.status, 200, await reconciled.text());
  }
  const isConfigurable = async (slug: string): Promise<boolean> => {
    const headers = { "x-org-alias": aliases["hilltop"] ?? "" };
    const path = `${urls.ehr}/api/app-installations/${slug}/config`;
    const response = await sendRequest(path, operator, { method: "PUT", body: {}, headers });
    return response.status === 200 && ((await response.json()) as { data: InstallationDto }).data.appSlug === slug;
  };
  for (const slug of [sharedApp, hilltopApp]) {
    await eventually(`${slug} can be configured`, 15_000, () => isConfigurable(slug));
  }

  /** Launches the app and returns the `launch` parameter, which the authorization server receives. */
  const startLaunch = async (): Promise<string | null> => {
    const path = `${urls.ehr}/api/app-installations/${sharedApp}/launch`;
    const response = await sendRequest(path, callers.token("riverside-member"), { body: {} });
    const { data } = (await response.json()) as { data: LaunchDto };
    return new URL(data.launchUrl ?? "").searchParams.get("launch");
  };

  /** The id of the shared app's client. One that was deleted is replaced by a job, because the app is installed. */
  const findClient = async (): Promise<string> => {
    let id: string | undefined;
    await eventually("the app has a client", 30_000, async () => {
      const { data } = (await (await sendAsOperator("/admin/clients", undefined, "GET")).json()) as {
        data: { items: AppClientDto[] };
      };
      id = data.items.find(({ appSlug }) => appSlug === sharedApp)?.id;
      return id !== undefined;
    });
    return id ?? assert.fail();
  };

  /** A difference of a subscription that has nothing to do with the others. Only a restore of the marketplace makes one. */
  const addDifference = async (): Promise<string> => {
    const { rows } = await withClient(urls.ehrOwner ?? assert.fail("needs the database"), (client) =>
      client.query<{ id: string }>(
        `with stored as (
           insert into subscriptions (org_alias, id, app_slug, status, as_of)
           values ('riverside-clinic', gen_random_uuid(), $1, 'cancelled', '2020-02-02') returning *
         )
         insert into differences (id, org_alias, subscription_id, app_slug, status, as_of, stored_as_of, found_at)
         select gen_random_uuid(), org_alias, id, app_slug, 'paused', '2020-01-01', as_of, now() from stored returning id`,
        [sharedApp],
      ),
    );
    return rows[0]?.id ?? assert.fail();
  };

  return {
    async buildRequest(route, on) {
      const [, pattern = ""] = route.split(" ");
      if (pattern.startsWith("/api/admin/clients/:id")) {
        const path = pattern.replace(":id", on === "existing" ? await findClient() : randomUUID());
        return route.startsWith("PUT") ? { path, body: { clientId: `client-${randomUUID()}` } } : { path };
      }
      if (pattern.startsWith("/api/admin/differences/:id")) {
        return { path: pattern.replace(":id", on === "existing" ? await addDifference() : randomUUID()) };
      }
      if (pattern === "/api/internal/app-clients") {
        const query = new URLSearchParams({ clientId: "a-client", orgAlias: aliases[on] ?? "" });
        return { path: `${pattern}?${query.toString()}` };
      }
      const [whose = "", app = "app of both"] = on.split(", ");
      const alias = aliases[whose.split(" ")[0] ?? ""] ?? "";
      const path = pattern.replace(":appSlug", app === "app of both" ? sharedApp : hilltopApp).replace(":alias", alias);
      const headers: Record<string, string> = whose.endsWith("by name") ? { "x-org-alias": alias } : {};
      const last = pattern.split("/").at(-1);
      if (last === "consume") {
        const orgAlias = aliases["riverside"];
        return { path, body: { launch: await startLaunch(), orgAlias, appSlug: sharedApp, user: "riverside-member" } };
      }
      if (last === "import") {
        const body = { alias: `import-${randomUUID()}`, secret };
        return { path, body, headers: { "content-type": "application/x-ndjson" } };
      }
      if (last === "secret") return { path, body: { secret } };
      if (last === "launch") return { path, headers, body: {} };
      if (route.startsWith("PUT") && last === "config") return { path, headers, body: {} };
      return { path, headers };
    },
  };
}
