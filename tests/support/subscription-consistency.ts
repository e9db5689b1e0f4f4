import { withClient } from "@ehr-marketplace/test-kit";

const checks: Record<string, string> = {
  "as many events as its revision says, in a sequence without gaps": `
    select s.id from subscriptions s left join events e on e.subscription_id = s.id
    group by s.id having count(e.sequence) <> s.revision or max(e.sequence) is distinct from s.revision`,
  "timestamps that strictly increase": `
    select subscription_id as id from (
      select subscription_id, occurred_at, lag(occurred_at) over (partition by subscription_id order by sequence) as before
      from events where sequence is not null
    ) ordered where before >= occurred_at`,
  "the status that its last event says": `
    select s.id from subscriptions s join events e on e.subscription_id = s.id and e.sequence = s.revision
    where e.payload::json #>> '{subscription,status}' <> s.status
      or e.payload::json ->> 'timestamp' <> wire_instant(e.occurred_at)`,
  "an audit entry for each event": `
    select s.id from subscriptions s
    left join audit_entries a on a.target_id = s.id::text and a.target_kind = 'subscription'
      and a.action <> 'subscription.lift-block'
      -- An operator's pause of what a suspension has paused sends no event.
      and not (a.action = 'subscription.pause' and a.before ->> 'status' = 'paused')
    group by s.id having count(a.id) <> s.revision`,
  "an agreement for each change of its scopes, and the newest one's scopes": `
    select s.id from subscriptions s
    left join scope_agreements a on a.subscription_id = s.id
    left join events e on e.subscription_id = s.id and e.event = 'subscription.updated' and e.sequence = a.revision
    group by s.id, s.fhir_scopes
    having count(a.revision) filter (where a.revision > 1) <> count(e.id)
      or (array_agg(a.fhir_scopes order by a.revision desc))[1] <> s.fhir_scopes`,
  "one live or blocking subscription per organisation and app": `
    select min(id::text) as id from subscriptions where status <> 'cancelled' or block_reason is not null
    group by organisation_id, app_id having count(*) > 1`,
  "complete idempotent responses":
    "select encode(request, 'hex') as id from idempotent_responses where response is null",
};

/** Describes every violated invariant between subscriptions, events and audit entries. */
export async function findInconsistencies(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const found: string[] = [];
    for (const [invariant, sql] of Object.entries(checks)) {
      const { rows } = await client.query<{ id: string }>(sql);
      for (const { id } of rows) found.push(`${id} lacks ${invariant}`);
    }
    return found;
  });
}
