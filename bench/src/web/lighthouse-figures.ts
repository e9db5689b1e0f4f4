import { gzipSync } from "node:zlib";
import type { Figure } from "../figures.ts";
import { median } from "../measure.ts";

/** The parts of Lighthouse's report that the figures need. */
export interface LighthouseReport {
  /** Set if the page could not be measured. */
  runtimeError?: { code: string; message: string };
  /** The score is from 0 to 1; null if an audit failed to run. */
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<
    string,
    {
      title: string;
      score: number | null;
      numericValue?: number;
      details?: { items?: { url?: string; resourceType?: string }[] };
    }
  >;
}

const scores = [
  { category: "performance", name: "performance", atLeast: 95 },
  { category: "accessibility", name: "accessibility", atLeast: 100 },
  { category: "best-practices", name: "best practices", atLeast: 95 },
  { category: "seo", name: "SEO", atLeast: 100 },
];

const sizes = [
  { resourceType: "Script", name: "JavaScript", atMost: 15 },
  { resourceType: "Stylesheet", name: "CSS", atMost: 20 },
];

const scoreOf = (report: LighthouseReport, category: string): number =>
  Math.round((report.categories[category]?.score ?? 0) * 100);

/** The audits that lower the score of a category. */
function findFailedAudits({ categories, audits }: LighthouseReport, category: string): string[] {
  const refs = categories[category]?.auditRefs ?? [];
  return refs
    .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
    .map(({ id }) => `${audits[id]?.title} (${id})`);
}

function numberOf({ audits }: LighthouseReport, id: string): number {
  const value = audits[id]?.numericValue;
  if (value === undefined) throw new Error(`Lighthouse's report has no value of ${id}`);
  return value;
}

/** The figures of one page: the median of the runs for what depends on time, the worst run for everything else. */
export function lighthouseFigures(page: string, reports: LighthouseReport[]): Figure[] {
  const scored = scores.map(({ category, name, atLeast }) => {
    const runs = reports.map((report) => scoreOf(report, category));
    const value = category === "performance" ? median(runs) : Math.min(...runs);
    if (value < atLeast) {
      const failed = new Set(reports.flatMap((report) => findFailedAudits(report, category)));
      console.error(`${page}, ${name}: ${[...failed].join("; ")}`);
    }
    return { name: `2 ${page}: ${name}`, measured: runs.join(", "), reference: "", value, goal: { atLeast } };
  });
  const lcpSeconds = reports.map((report) => numberOf(report, "largest-contentful-paint") / 1_000);
  const shifts = reports.map((report) => numberOf(report, "cumulative-layout-shift"));
  return [
    ...scored,
    {
      name: `2 ${page}: largest contentful paint, s`,
      measured: `${lcpSeconds.map((seconds) => seconds.toFixed(2)).join(", ")} s`,
      reference: "",
      value: median(lcpSeconds),
      goal: { atMost: 1.8 },
    },
    {
      name: `2 ${page}: cumulative layout shift`,
      measured: shifts.map((shift) => shift.toFixed(3)).join(", "),
      reference: "",
      value: Math.max(...shifts),
      goal: { atMost: 0.05 },
    },
  ];
}

/** What the page has loaded of each kind, compressed by gzip. */
export async function sizeFigures(page: string, report: LighthouseReport): Promise<Figure[]> {
  const requests = report.audits["network-requests"]?.details?.items ?? [];
  if (requests.length === 0) throw new Error("Lighthouse's report has no requests");
  const figures: Figure[] = [];
  for (const { resourceType, name, atMost } of sizes) {
    const urls = requests.flatMap(({ url, resourceType: type }) => (type === resourceType && url ? [url] : []));
    const bodies = await Promise.all(urls.map(async (url) => (await fetch(url)).bytes()));
    const kilobytes = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0) / 1_000;
    figures.push({
      name: `2 ${page}: ${name}, kB gzip`,
      measured: `${kilobytes.toFixed(1)} kB, files: ${urls.length}`,
      reference: "",
      value: kilobytes,
      goal: { atMost },
    });
  }
  return figures;
}
