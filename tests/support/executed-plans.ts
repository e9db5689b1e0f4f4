import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
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
  /** Rows that scans returned or filtered out, and row pairs that joins rejected. */
  rowsRead: number;
  /** Pages read. Only this figure shows a full index scan that returns few rows. */
  pagesRead: number;
  /** The scanned indexes and tables, with the rows of each. */
  scans: string;
}

const settings = {
  // Load auto_explain per session, so that it is active for the service in the database under test only.
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
  "auto_explain.log_nested_statements": "on",
  // Generic plans are the worst case that a long-lived connection can reach.
  plan_cache_mode: "force_generic_plan",
};

/**
 * Makes every new connection of the service to this database use generic plans and report the executed plan of each statement. The
 * owner's are left out: it inserts the rows, and the triggers would report a plan for each row.
 */
export async function explainStatements({ ownerUrl, serviceUrl }: ServiceDatabase): Promise<void> {
  const { pathname, username } = new URL(serviceUrl);
  await withClient(ownerUrl, async (client) => {
    const [login, database] = [username, pathname.slice(1)].map((name) => client.escapeIdentifier(name));
    for (const [setting, value] of Object.entries(settings)) {
      await client.query(`alter role ${login} in database ${database} set ${setting} = '${value}'`);
    }
  });
}

/** Collects the plans that a pool's connections execute; `take` returns those since its last call. Call it before the pool connects. */
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

/** Sums the rows that a plan's scans returned or filtered out, and the row pairs that its joins rejected. */
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
