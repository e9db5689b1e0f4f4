import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface RegisteredClient {
  metadata: Record<string, unknown>;
  /** The registration access token, which each read and update replaces, as in Keycloak. */
  token: string;
}

export interface RegistrationRequest {
  method: string;
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
  socket: IncomingMessage["socket"];
}

/** Takes over the response to a request, and returns true then. `proceed` does what was requested, and returns the usual response. */
type Interfere = (
  request: RegistrationRequest,
  response: ServerResponse,
  proceed: () => { status: number; body: unknown },
) => boolean | Promise<boolean>;

/** An authorization server with client registration by RFC 7591 and RFC 7592, which does what the test says. */
export interface RegistrationServer {
  /** The registration endpoint. */
  url: string;
  /** For the EHR service. */
  environment: Record<string, string>;
  /** Those that exist now, by client_id. */
  clients: Map<string, RegisteredClient>;
  /** The ids of those with this `client_name` that exist now. */
  idsNamed(name: string): string[];
  /** All that were ever registered. */
  registeredIds: string[];
  requests: RegistrationRequest[];
  interfere: Interfere;
  close(): Promise<void>;
}

const initialToken = "the-initial-access-token";

export async function startRegistrationServer(cleanUp: CleanUp, port = 0): Promise<RegistrationServer> {
  const clients: RegistrationServer["clients"] = new Map();
  const answer = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
  const describe = (id: string, { metadata, token }: RegisteredClient) => ({
    ...metadata,
    client_id: id,
    registration_access_token: token,
    registration_client_uri: `${server.url}/${id}`,
  });
  const proceed = ({ method, path, authorization, body }: RegistrationRequest): { status: number; body: unknown } => {
    const id = path.split("/")[2];
    if (id === undefined) {
      if (authorization !== `Bearer ${initialToken}`) return { status: 401, body: { error: "invalid_token" } };
      const [newId, client] = [`client-${randomUUID()}`, { metadata: body, token: randomUUID() }];
      clients.set(newId, client);
      server.registeredIds.push(newId);
      return { status: 201, body: describe(newId, client) };
    }
    const client = clients.get(id);
    if (client === undefined || authorization !== `Bearer ${client.token}`) {
      return { status: 401, body: { error: "invalid_token" } };
    }
    if (method === "DELETE") {
      clients.delete(id);
      return { status: 204, body: undefined };
    }
    const { client_id: _id, ...metadata } = method === "GET" ? client.metadata : body;
    const updated = { metadata, token: randomUUID() };
    clients.set(id, updated);
    return { status: 200, body: describe(id, updated) };
  };
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await text(incoming);
    const request: RegistrationRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      authorization: incoming.headers.authorization,
      body: (received === "" ? {} : JSON.parse(received)) as Record<string, unknown>,
      socket: incoming.socket,
    };
    server.requests.push(request);
    if (await server.interfere(request, response, () => proceed(request))) return;
    const { status, body } = proceed(request);
    answer(response, status, body);
  };
  const http = createServer((request, response) => void respond(request, response)).listen(port, "127.0.0.1");
  await once(http, "listening");
  const close = async (): Promise<void> => {
    http.closeAllConnections();
    http.close();
  };
  cleanUp(close);
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/register`;
  const server: RegistrationServer = {
    url,
    environment: {
      CLIENT_REGISTRATION: "dcr",
      CLIENT_REGISTRATION_URL: url,
      CLIENT_REGISTRATION_TOKEN: initialToken,
    },
    clients,
    idsNamed: (name) => [...clients].filter(([, { metadata }]) => metadata["client_name"] === name).map(([id]) => id),
    registeredIds: [],
    requests: [],
    interfere: () => false,
    close,
  };
  return server;
}
