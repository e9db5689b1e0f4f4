import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import type { Connection } from "./connections.ts";

export interface ConnectionsServer {
  url: string;
  /** By organisation. */
  connections: Map<string, Omit<Connection, "orgAlias">>;
  requests: string[];
}

/** The routes of the marketplace by which a vendor reads its connections, as their contract says; one subscription on a page. */
export async function startConnectionsServer(cleanUp: CleanUp): Promise<ConnectionsServer> {
  const state: ConnectionsServer = { url: "", connections: new Map(), requests: [] };
  const respond = ({ pathname, searchParams }: URL): object | undefined => {
    const aliases = [...state.connections.keys()];
    if (pathname === "/api/v1/developer/subscriptions") {
      const index = Number(searchParams.get("after") ?? 0);
      const orgAlias = aliases[index];
      const items = orgAlias === undefined ? [] : [{ id: `subscription-of-${orgAlias}`, orgAlias, status: "active" }];
      return { items, next: index + 1 < aliases.length ? String(index + 1) : null };
    }
    const [, alias = ""] = /^\/api\/v1\/subscriptions\/subscription-of-(.+)\/connection$/.exec(pathname) ?? [];
    return state.connections.get(alias);
  };
  const server = createServer((request, response) => {
    const body = respond(new URL(request.url ?? "/", "http://marketplace"));
    state.requests.push(`${request.headers.authorization} ${request.url}`);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { code: "not-found" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}
