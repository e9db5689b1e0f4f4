import { withClient } from "@ehr-marketplace/dev/postgres";
import type pg from "pg";

export interface PlanNode {
  "Node Type": string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

export interface ExecutedPlan {
  statement: string;
  /** Rows that its scans produced or filtered out, and pairs that its joins looked at in vain. */
  rowsRead: number;
  /** Pages that it looked at: an index that is read from end to end for a few rows shows here only. */
  pagesRead: number;
  /** The indexes and tables that were scanned, with the rows of each. */
  scans: string;
}

const settings = {
  // Loaded per session, so that the database under test is the only one that explains.
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
  "auto_explain.log_nested_statements": "on",
  // The worst that a connection can come to: one plan for all values, whatever they are.
  plan_cache_mode: "force_generic_plan",
};

/** From now on every new connection to this database plans generically, and tells how each statement was executed. */
export async function explainStatements(ownerUrl: string): Promise<void> {
  const name = new URL(ownerUrl).pathname.slice(1);
  await withClient(ownerUrl, async (client) => {
    for (const [setting, value] of Object.entries(settings)) {
      await client.query(`alter database ${client.escapeIdentifier(name)} set ${setting} = '${value}'`);
    }
  });
}

/** What a pool's connections execute; `take` returns it since the last time. Call it before the pool connects. */
export function collectPlans(pool: pg.Pool): { take(): ExecutedPlan[] } {
  let plans: ExecutedPlan[] = [];
  pool.on("connect", (client) =>
    client.on("notice", ({ message }) => {
      const json = /^duration: .*plan:\s*(\{.*)$/s.exec(message ?? "")?.[1];
      if (json === undefined) return;
      const { "Query Text": statement, Plan: root } = JSON.parse(json) as { "Query Text": string; Plan: PlanNode };
      const nodes = nodesOf(root);
      const scans = nodes.filter((node) => node["Node Type"].includes("Scan"));
      plans.push({
        statement: statement.replaceAll(/\s+/g, " ").trim(),
        rowsRead: rowsReadIn(root),
        pagesRead: (root["Shared Hit Blocks"] ?? 0) + (root["Shared Read Blocks"] ?? 0),
        scans: scans
          .map((node) => `${node["Index Name"] ?? node["Node Type"]}: ${Math.round(rowsReadBy(node))}`)
          .join(", "),
      });
    }),
  );
  return {
    take() {
      const taken = plans;
      plans = [];
      return taken;
    },
  };
}

/** Rows that a plan's scans produced or filtered out, and pairs that its joins looked at in vain. */
export const rowsReadIn = (root: PlanNode): number =>
  Math.round(nodesOf(root).reduce((sum, node) => sum + rowsReadBy(node), 0));

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

function rowsReadBy(node: PlanNode): number {
  const removed = node["Rows Removed by Filter"] ?? 0;
  const rechecked = node["Rows Removed by Index Recheck"] ?? 0;
  const unmatched = node["Rows Removed by Join Filter"] ?? 0;
  const produced = node["Node Type"].includes("Scan") ? node["Actual Rows"] : 0;
  return (produced + removed + rechecked + unmatched) * Math.max(node["Actual Loops"], 1);
}
