import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";

const directory = new URL("../../deploy/prometheus/", import.meta.url);

export interface AlertRule {
  alert: string;
  text: string;
  expr: string;
}

/** The rules of each file, by its name without the ending: `ehr-alerts`. */
export async function readAlertRules(): Promise<Map<string, AlertRule[]>> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".yml"));
  const rules = new Map<string, AlertRule[]>();
  for (const file of files.toSorted()) {
    const texts = (await readFile(new URL(file, directory), "utf8")).split(/^ {6}- alert: /m).slice(1);
    rules.set(
      file.replace(/\.yml$/, ""),
      texts.map((text) => {
        const [alert = ""] = text.split("\n", 1);
        const expr = /^ {8}expr: (?:>-)?(.*?)^ {8}(?:for|labels):/ms.exec(text)?.[1] ?? "";
        return { alert, text, expr };
      }),
    );
  }
  return rules;
}

/** The cases of a file of rules for `promtool test rules`, in pairs of the alert and the text of the case. */
export async function readRuleTests(file: string): Promise<[alert: string, text: string][]> {
  const text = await readFile(new URL(`tests/${file}.test.yml`, directory), "utf8");
  assert.match(text, new RegExp(`^rule_files: \\[\\.\\./${file}\\.yml\\]$`, "m"));
  return text
    .split(/^ {2}- name: /m)
    .slice(1)
    .map((each) => [each.split("\n", 1)[0] ?? "", each]);
}

/** What a process exports. */
export interface Exported {
  metrics: Set<string>;
  routes: string[];
}

const keywords = new Set(["and", "or", "unless", "by", "offset"]);
const histogramSuffix = /_(bucket|count)$/;

/** The metrics in an expression, with their matchers. */
function* findSeries(expr: string): Generator<[name: string, matchers: string]> {
  const withoutLabelLists = expr.replace(/\bby \([^)]*\)/g, " ");
  // A matcher's value may have braces and parentheses, so matchers are taken as a whole.
  for (const [, name = "", matchers = ""] of withoutLabelLists.matchAll(
    /\b([a-zA-Z_]\w*)\b(?!\s*\()(?:\{((?:[^"}]|"[^"]*")*)\})?(?:\[\w+\])?/g,
  )) {
    if (!keywords.has(name)) yield [name, matchers];
  }
}

const readMatcher = (matchers: string, label: string): string | undefined =>
  new RegExp(`\\b${label}[=!]~?"([^"]*)"`).exec(matchers)?.[1];

/** Fails if the rule uses a metric or a route that no process has, or none of the service that it names. */
export function assertUsesExported({ alert, expr }: AlertRule, services: Record<string, Exported>): void {
  const series = [...findSeries(expr)];
  assert.ok(series.length > 0, `${alert} has an expression`);
  for (const [name, matchers] of series) {
    // Prometheus's own.
    if (name === "up") continue;
    const named = new RegExp(`^(?:${readMatcher(matchers, "service") ?? ".*"})$`);
    const candidates = Object.entries(services).filter(([service]) => named.test(service));
    const exporting = candidates.filter(
      ([, { metrics }]) => metrics.has(name) || metrics.has(name.replace(histogramSuffix, "")),
    );
    assert.ok(exporting.length > 0, `${alert} uses ${name}{${matchers}}, which no process exports`);
    for (const pattern of readMatcher(matchers, "route")?.split("|") ?? []) {
      const isRoute = new RegExp(`^(?:${pattern})$`);
      assert.ok(
        exporting.some(([, { routes }]) => routes.some((route) => isRoute.test(route))),
        `${alert}: there is no route ${pattern}`,
      );
    }
  }
}
