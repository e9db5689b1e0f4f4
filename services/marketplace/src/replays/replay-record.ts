import type { ReplayDto } from "@ehr-marketplace/contracts";
import type { ReplayRow } from "./replay-store.ts";

export function replayRecord(row: ReplayRow): ReplayDto {
  return {
    id: row.id,
    status: row.status as ReplayDto["status"],
    failures: row.kind === "failures",
    from: row.from_at?.toISOString() ?? null,
    to: row.to_at.toISOString(),
    total: row.total,
    done: row.done,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
