import { registerPractices } from "@ehr-marketplace/dev/practices";
import { withClient } from "@ehr-marketplace/test-kit";

/** Inserts active subscriptions, each of another practice, and returns their ids. No EHR listens at the practices' callback. */
export async function insertSubscriptions(ownerUrl: string, count: number): Promise<string[]> {
  const practices = await registerPractices(ownerUrl, { count, callbackUrl: "http://127.0.0.1:9" });
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
       select mint_uuid(), practice, plan.app_id, plan.id, 'active', now(), now(), 1
       from unnest($1::uuid[]) practice, (select id, app_id from pricing_plans limit 1) plan returning id`,
      [practices.map(({ id }) => id)],
    );
    return rows.map(({ id }) => id);
  });
}
