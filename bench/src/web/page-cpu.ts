import type { Figure } from "../figures.ts";
import { median } from "../measure.ts";
import { alternate, cpuPerRequest } from "../warm-cpu.ts";
import type { StorefrontServers } from "./storefront-servers.ts";

/** Both are sent compressed, as to browsers. */
const headers = { "accept-encoding": "br" };

/** Each page, with that response of the catalog which most of it is made from. The others that it needs don't count. */
const pages = [
  { name: "home", path: "/", response: "/apps/featured", responseName: "GET /apps/featured" },
  {
    name: "app page",
    path: "/apps/northwind-scribe",
    response: "/apps/northwind-scribe",
    responseName: "GET /apps/{slug}",
  },
];

const formatUs = (microseconds: number): string => `${microseconds.toFixed(1)} µs`;

/** Measures the web's CPU time for a page, against the API's for the response that it shows, in alternating rounds. */
export async function pageCpu({ web, api }: StorefrontServers, requests: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, path, response, responseName } of pages) {
    const pairs = await alternate(
      () => cpuPerRequest(web, path, headers, requests),
      () => cpuPerRequest(api, response, headers, requests),
    );
    figures.push({
      name: `1 CPU per request: ${name}`,
      measured: formatUs(median(pairs.map(({ ours }) => ours))),
      reference: `${formatUs(median(pairs.map(({ reference }) => reference)))}, ${responseName}`,
      value: median(pairs.map(({ ours, reference }) => ours / reference)),
      goal: { atMost: 3 },
    });
  }
  return figures;
}
