import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CleanUp, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

export interface Catalog {
  /** For MARKETPLACE_URL. */
  url: string;
  ownerUrl: string;
  /** Paths that were requested, the oldest first; those of client metadata are left out. */
  requested: string[];
  /** `hanging`: it accepts requests and responds once it is open. `shut`: it breaks connections off. */
  setMode(mode: "open" | "hanging" | "shut"): void;
  publish(slug: string): Promise<void>;
  unpublish(slug: string): Promise<void>;
}

/** A real marketplace behind a proxy that the test can shut; by default with the demo catalog. */
export async function startCatalog(
  cleanUp: CleanUp,
  given?: RunningMarketplace & { ownerUrl: string },
): Promise<Catalog> {
  const { ownerUrl, ...marketplace } = given ?? (await startOwn(cleanUp));
  const requested: string[] = [];
  let mode: Parameters<Catalog["setMode"]>[0] = "open";
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization, "if-none-match": etag } = request.headers;
    const forwarded = await fetch(`${marketplace.url}${request.url}`, {
      headers: {
        "accept-encoding": "identity",
        ...(authorization === undefined ? {} : { authorization }),
        ...(etag === undefined ? {} : { "if-none-match": etag }),
      },
    });
    const kept = ["content-type", "etag", "link"].flatMap((name) => {
      const value = forwarded.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(forwarded.status, Object.fromEntries(kept)).end(await forwarded.text());
  };
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    if (request.url?.endsWith("/client") !== true) requested.push(request.url ?? "");
    const respond = (): void => void forward(request, response).catch(() => request.socket.destroy());
    if (mode === "shut") request.socket.destroy();
    else if (mode === "open") respond();
    else waiting.push(respond);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.closeAllConnections();
    server.close();
  });
  const change = async (slug: string, status: "published" | "withdrawn"): Promise<void> => {
    await withClient(ownerUrl, (client) => client.query("update apps set status = $2 where slug = $1", [slug, status]));
    await eventually(`the catalog shows that ${slug} is ${status}`, 30_000, async () => {
      const { status: code } = await marketplace.get(`/apps/${slug}`);
      return code === (status === "published" ? 200 : 404);
    });
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    ownerUrl,
    requested,
    setMode(next) {
      mode = next;
      if (mode === "shut") server.closeAllConnections();
      if (mode === "open") for (const respond of waiting) respond();
      if (mode !== "hanging") waiting = [];
    },
    publish: (slug) => change(slug, "published"),
    unpublish: (slug) => change(slug, "withdrawn"),
  };
}

async function startOwn(cleanUp: CleanUp): Promise<RunningMarketplace & { ownerUrl: string }> {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  return { ...(await startMarketplace(cleanUp, serviceUrl)), ownerUrl };
}
