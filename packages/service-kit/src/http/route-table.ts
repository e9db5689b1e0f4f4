import type { FastifyInstance } from "fastify";
import FindMyWay, { type HTTPMethod } from "find-my-way";

export interface RouteTable {
  /** The methods of a path, as a client sends it. */
  methodsOf(path: string): string[];
}

/** Records the routes that are registered after it. */
export function createRouteTable(server: FastifyInstance): RouteTable {
  const routes = FindMyWay({ ignoreTrailingSlash: false, maxParamLength: Number.MAX_SAFE_INTEGER });
  const methods = new Set<HTTPMethod>();
  server.addHook("onRoute", (route) => {
    // Wildcard routes serve preflight requests or files, and don't say whether a resource exists at a path.
    if (route.url.endsWith("*")) return;
    for (const method of [route.method].flat() as HTTPMethod[]) {
      methods.add(method);
      routes.on(method, route.url, () => undefined);
    }
  });
  return { methodsOf: (path) => [...methods].filter((method) => routes.find(method, path) !== null) };
}
