import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CleanUp } from "@ehr-marketplace/test-kit";

interface PublicRoute {
  path: string;
  status: number;
  headers?: Record<string, string>;
}

const preflight = { origin: "https://console.example", "access-control-request-method": "GET" };

const getAndHead: Record<string, string> = {
  "/": "/",
  "/api/v1": "/api/v1",
  "/health": "/health",
  "/health/live": "/health/live",
  "/health/ready": "/health/ready",
  "/metrics": "/metrics",
  "/problems": "/problems",
  "/problems/:code": "/problems/forbidden",
  "/api/v1/openapi.json": "/api/v1/openapi.json",
  "/favicon.ico": "/favicon.ico",
  "/docs/": "/docs/",
  "/docs/js/scalar.js": "/docs/js/scalar.js",
  "/api/v1/apps": "/api/v1/apps",
  "/api/v1/apps/search": "/api/v1/apps/search?q=scribe",
  "/api/v1/apps/featured": "/api/v1/apps/featured",
  "/api/v1/apps/categories": "/api/v1/apps/categories",
  "/api/v1/apps/:slug": "/api/v1/apps/northwind-scribe",
  "/api/v1/apps/:slug/pricing": "/api/v1/apps/northwind-scribe/pricing",
  "/media/:name": "/media/picture.svg",
};

/** Routes that are intentionally public. Adding one needs a reason. */
export const publicRoutes: Map<string, PublicRoute> = new Map([
  ...Object.entries(getAndHead).flatMap(([url, path]): [string, PublicRoute][] => [
    [`GET ${url}`, { path, status: 200 }],
    [`HEAD ${url}`, { path, status: 200 }],
  ]),
  ["GET /docs", { path: "/docs", status: 200 }],
  ["HEAD /docs", { path: "/docs", status: 200 }],
  ["OPTIONS /api/v1/apps*", { path: "/api/v1/apps", status: 204, headers: preflight }],
  ["OPTIONS /api/v1*", { path: "/api/v1/subscriptions", status: 204, headers: preflight }],
]);

/** A folder of media with the public picture that the row of `/media/:name` names. */
export async function makePublicFolder(cleanUp: CleanUp): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "media-"));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "picture.svg"), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  return folder;
}
