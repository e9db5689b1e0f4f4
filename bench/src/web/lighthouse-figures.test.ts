import assert from "node:assert/strict";
import { test } from "node:test";
import { type LighthouseReport, lighthouseFigures } from "./lighthouse-figures.ts";

function reportOf(score: number, lcpMs: number, shift: number): LighthouseReport {
  const audit = (numericValue: number) => ({ title: "An audit", score: 1, numericValue });
  const category = { score, auditRefs: [{ id: "largest-contentful-paint", weight: 25 }] };
  return {
    categories: { performance: category, accessibility: category, "best-practices": category, seo: category },
    audits: { "largest-contentful-paint": audit(lcpMs), "cumulative-layout-shift": audit(shift) },
  };
}

test("figures of Lighthouse are the median of what depends on time, and the worst of everything else", () => {
  const reports = [reportOf(0.9, 2_500, 0.2), reportOf(1, 1_500, 0), reportOf(0.97, 1_600, 0)];
  const figures = lighthouseFigures("home", reports);
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  assert.deepEqual(values, {
    "2 home: performance": 97,
    "2 home: accessibility": 90,
    "2 home: best practices": 90,
    "2 home: SEO": 90,
    "2 home: largest contentful paint, s": 1.6,
    "2 home: cumulative layout shift": 0.2,
  });
});

test("a category that Lighthouse could not score counts as 0", () => {
  const report = reportOf(1, 1_000, 0);
  report.categories["seo"] = { score: null, auditRefs: [] };
  const seo = lighthouseFigures("home", [report]).find(({ name }) => name === "2 home: SEO");
  assert.equal(seo?.value, 0);
});
