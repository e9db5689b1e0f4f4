import { type ClientRequest, request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import type { TLSSocket } from "node:tls";

export interface ServerRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  /** Empty: without a token. */
  bearer: string;
  body?: object;
}

export type ServerOutcome =
  /** `body` is undefined if it isn't JSON, is too large or was broken off. */
  | { kind: "responded"; status: number; body: unknown; hasRetryAfter: boolean }
  /** No connection was established, so the authorization server has received nothing. */
  | { kind: "unsent"; reason: string }
  /** The authorization server may have received the request. */
  | { kind: "unknown"; reason: string };

/** Never throws. Redirects are not followed. */
export type SendToServer = (request: ServerRequest) => Promise<ServerOutcome>;

const maxResponseBytes = 65_536;

/**
 * Sends requests to the EHR's authorization server. Each has a connection of its own: one that is reused may be closed by the server while
 * the request is sent, and registering a client can't be repeated. `fetch` doesn't tell whether a connection was established.
 */
export function createServerClient(timeoutMs = 10_000): SendToServer {
  return ({ method, url, bearer, body }) =>
    new Promise((resolve) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const isTls = URL.parse(url)?.protocol === "https:";
      let isConnected = false;
      let isResponding = false;
      let request: ClientRequest;
      const fail = (reason: string): void => resolve({ kind: isConnected ? "unknown" : "unsent", reason });
      try {
        request = (isTls ? sendHttps : sendHttp)(url, {
          method,
          agent: false,
          signal: AbortSignal.timeout(timeoutMs),
          headers: {
            accept: "application/json",
            ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }),
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          },
        });
      } catch (error) {
        fail(describe(error));
        return;
      }
      request.on("socket", (socket) => {
        (socket as TLSSocket).once(isTls ? "secureConnect" : "connect", () => {
          isConnected = true;
        });
      });
      request.on("response", (response) => {
        isResponding = true;
        const chunks: Buffer[] = [];
        let bytes = 0;
        const respond = (parsed: unknown): void =>
          resolve({
            kind: "responded",
            status: response.statusCode ?? 0,
            body: parsed,
            hasRetryAfter: response.headers["retry-after"] !== undefined,
          });
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= maxResponseBytes) chunks.push(chunk);
          else response.destroy();
        });
        response.on("end", () => respond(parse(Buffer.concat(chunks).toString("utf8"))));
        response.on("error", () => respond(undefined));
        response.on("close", () => respond(undefined));
      });
      request.on("error", (error) => {
        if (!isResponding) fail(describe(error));
      });
      // After 101, Node closes the connection and emits neither `response` nor `error`.
      request.on("close", () => {
        if (!isResponding) fail("the connection was closed without a response");
      });
      request.end(text);
    });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Messages of errors may have addresses; codes don't. */
function describe(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  return name === "AbortError" || name === "TimeoutError" ? "no response in time" : (code ?? "failed to connect");
}
