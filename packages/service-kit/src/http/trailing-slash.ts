import type { FastifyInstance } from "fastify";
import { anyOriginHeaders } from "./any-origin.ts";
import type { RouteTable } from "./route-table.ts";

/** Returns the path without the slashes at its end, or undefined if it has none there. */
export function withoutTrailingSlash(path: string): string | undefined {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  return end === 0 || end === path.length ? undefined : path.slice(0, end);
}

/** Redirects GET and HEAD of `/path/` to `/path` if only the latter has a route, so that a resource has one URL. */
export function redirectTrailingSlashes(server: FastifyInstance, routes: RouteTable): void {
  server.addHook("onRequest", (request, reply, next) => {
    const { url = "" } = request.raw;
    const queryAt = url.indexOf("?");
    const [path, query] = queryAt === -1 ? [url, ""] : [url.slice(0, queryAt), url.slice(queryAt)];
    const shorter = withoutTrailingSlash(path);
    // `/docs/` and the files of a wildcard route are served as they are; an empty parameter at the end is no resource.
    const isServed = /[/*]$/.test(request.routeOptions.url ?? "");
    // A request target may also be a URL, of any host.
    const isRead = (request.method === "GET" || request.method === "HEAD") && /^\/(?!\/)/.test(url);
    if (shorter !== undefined && isRead && !isServed && routes.methodsOf(shorter).includes(request.method)) {
      // Pages of any origin may follow it; it says only what the path did.
      void reply.headers({ ...anyOriginHeaders, "cache-control": "no-store" }).redirect(shorter + query, 308);
    } else {
      next();
    }
  });
}
