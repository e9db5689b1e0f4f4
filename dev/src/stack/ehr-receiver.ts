import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { styleText } from "node:util";
import { demoOrganisations } from "../demo-data/demo-organisations.ts";

export interface EhrReceiver {
  url: string;
  stop(): Promise<void>;
}

const receiverPath = "/api/internal/marketplace-webhook";
const mostBytes = 65_536;
const secrets = new Map(demoOrganisations.map(({ alias, secret }) => [alias, secret]));

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Received {
  event?: string;
  app?: { slug?: string };
  subscription?: { id?: string; status?: string; orgAlias?: string };
}

function parsed(body: Buffer): Received | undefined {
  try {
    const read: unknown = JSON.parse(body.toString("utf8"));
    return typeof read === "object" && read !== null ? read : undefined;
  } catch {
    return undefined;
  }
}

/** The organisation's secret signs the bytes as they came; what they say is believed only then. */
function isSigned(body: Buffer, alias: string | undefined, given: unknown): boolean {
  const secret = secrets.get(alias ?? "");
  if (secret === undefined || typeof given !== "string") return false;
  const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
  const signature = Buffer.from(given);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

/** Stands where the EHR's service will: verifies what the marketplace sends, prints it, and answers 204. */
export async function startEhrReceiver(port: number, print: (line: string) => void): Promise<EhrReceiver> {
  const answer = async (request: IncomingMessage): Promise<number> => {
    if (request.method === "GET" && request.url === "/") return 200;
    if (request.method !== "POST" || request.url !== receiverPath) return 404;
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    const received = parsed(body);
    const { subscription, event, app } = received ?? {};
    if (!isSigned(body, subscription?.orgAlias, request.headers["x-marketplace-signature"])) return 401;
    const what = `${event}  ${app?.slug}  ${subscription?.status}  ${subscription?.id}`;
    print(`${styleText("green", "EHR")} of ${subscription?.orgAlias} heard: ${what}`);
    return 204;
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const status = await answer(request).catch(() => 400);
    response.writeHead(status, { connection: "close", "content-type": "text/plain; charset=utf-8" });
    response.end(status === 200 ? `Stands in for the EHR. Signed events go to POST ${receiverPath}\n` : "");
  };
  const server = createServer((request, response) => void respond(request, response));
  server.requestTimeout = 10_000;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
