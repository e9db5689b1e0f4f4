import { printTable } from "../print-table.ts";
import type { Cost } from "./measure-cost.ts";

const header = [
  "changes a second",
  "recipients",
  "API ms",
  "worker ms",
  "PostgreSQL ms",
  "total ms",
  "statements",
  "round trips",
  "commits",
  "WAL bytes",
  "rows",
  "p50 / p95 / p99 ms",
];

export function printCosts(costs: Cost[]): void {
  const rows = costs.map((cost) => {
    const { api, worker, postgres } = cost.cpuMs;
    const { p50, p95, p99 } = cost.latency;
    return [
      String(cost.perSecond),
      cost.withEhr ? "vendor, EHR" : "vendor",
      ...[api, worker, postgres, api + worker + postgres].map((ms) => ms.toFixed(2)),
      ...[cost.statements, cost.roundTrips, cost.commits].map((count) => count.toFixed(1)),
      cost.walBytes.toFixed(0),
      cost.rows.toFixed(1),
      [p50, p95, p99].map((ms) => ms.toFixed(1)).join(" / "),
    ];
  });
  console.log("\nFor one change: CPU of each process, and what PostgreSQL did");
  printTable([header, ...rows]);
}

export function printStatements({ costliest, changes }: Cost): void {
  console.log("\nPostgreSQL's costliest statements, for one change");
  printTable([
    ["calls", "plan ms", "execute ms", "statement"],
    ...costliest.map(({ query, calls, planMs, executeMs }) => [
      (calls / changes).toFixed(2),
      (planMs / changes).toFixed(3),
      (executeMs / changes).toFixed(3),
      query.slice(0, 110),
    ]),
  ]);
}
