import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface MarketplaceStub {
  url: string;
  /** For the EHR service. */
  environment: Record<string, string>;
}

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Starts a server for what the EHR service requests from a marketplace, and an identity provider whose tokens name one organisation each. */
export async function startMarketplaceStub(cleanUp: CleanUp, respond: Respond): Promise<MarketplaceStub> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (request.url !== "/token") {
      respond(request, response, body);
      return;
    }
    const alias = new URLSearchParams(body).get("scope");
    sendJson(response, 200, { access_token: `token-of-${alias}`, token_type: "Bearer", expires_in: 3_600 });
  };
  const server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/api/v1`;
  return {
    url,
    environment: {
      MARKETPLACE_URL: url,
      MARKETPLACE_TOKEN_URL: `${origin}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
      MARKETPLACE_TOKEN_PARAMETERS: "scope={orgAlias}",
    },
  };
}
