import { deferRows } from "@ehr-marketplace/service-kit/database";
import { sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export interface HistoryRow {
  createdAt: Date;
  cancelledAt: Date | null;
  pausedAt: Date | null;
  trialEndsAt: Date | null;
  planId: string;
  /** In order. */
  endedTerms: { endedAt: string; planId: string }[];
  endedPauses: { from: string; to: string }[];
}

/** What a subscription is, and was since a time. It is read with the next statement. */
export async function deferHistoryRow(
  transaction: Transaction<DB>,
  id: string,
  since: Date,
): Promise<() => Promise<HistoryRow | undefined>> {
  const statement = sql<HistoryRow>`
    select created_at as "createdAt", cancelled_at as "cancelledAt", paused_at as "pausedAt", trial_ends_at as "trialEndsAt",
      pricing_plan_id as "planId",
      coalesce((
        select json_agg(json_build_object('endedAt', ended.ended_at, 'planId', coalesce(before.pricing_plan_id, ended.pricing_plan_id))
          order by ended.ended_at)
        from ended_terms ended
        -- In a time of an increase that counts as never made, the plan before it was in force.
        left join undone_increases undone on undone.subscription_id = ended.subscription_id
          and undone.from_at < ended.ended_at and undone.to_at >= ended.ended_at
        left join ended_terms before on before.subscription_id = ended.subscription_id and before.ended_at = undone.from_at
        where ended.subscription_id = subscriptions.id and ended.ended_at > ${since}
      ), '[]') as "endedTerms",
      coalesce((
        select json_agg(json_build_object('from', paused_at, 'to', ended_at) order by paused_at)
        from ended_pauses where subscription_id = subscriptions.id and ended_at > ${since}
      ), '[]') as "endedPauses"
    from subscriptions where id = ${id}`;
  const readRows = await deferRows(transaction, "find-history", statement);
  return async () => (await readRows())[0];
}
