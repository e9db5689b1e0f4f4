import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { Negotiator } from "@fastify/accept-negotiator";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";

type Coding = "br" | "gzip";

interface Encoded {
  body: Buffer;
  etag: string;
  coding?: Coding;
}

/** What is sent for one resource: made once, compressed at most once per content coding, then only copied out. */
export interface Representation {
  contentType: string;
  cacheControl: string;
  vary: string;
  plain: Encoded;
  compressed: Map<Coding, Encoded | Promise<Encoded>>;
}

const worthCompressingBytes = 1_024;

const compressors: Record<Coding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

// Clients send a handful of different Accept-Encoding headers; an attacker's inventions fall out at the far end.
const codings = new Negotiator<Coding>({
  supportedValues: ["br", "gzip"],
  cache: new LRUCache<string, Coding>({ max: 100 }) as never,
});

export function representationOf(
  body: Buffer | string,
  options: { contentType: string; cacheControl: string; vary?: string },
): Representation {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return {
    vary: "accept-encoding",
    ...options,
    plain: { body: bytes, etag: `"${hash("sha1", bytes, "base64url")}"` },
    compressed: new Map(),
  };
}

function encode(representation: Representation, coding: Coding): Encoded | Promise<Encoded> {
  let encoded = representation.compressed.get(coding);
  if (encoded === undefined) {
    const { body, etag } = representation.plain;
    encoded = compressors[coding](body).then((compressed) => {
      const made = { body: compressed, etag: `${etag.slice(0, -1)}-${coding}"`, coding };
      representation.compressed.set(coding, made);
      return made;
    });
    representation.compressed.set(coding, encoded);
  }
  return encoded;
}

function isKnownToClient(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}

function prepare(request: FastifyRequest, reply: FastifyReply, from: Representation, encoded: Encoded): Buffer | null {
  reply.headers({ "cache-control": from.cacheControl, etag: encoded.etag, vary: from.vary });
  const { "if-none-match": ifNoneMatch } = request.headers;
  if (ifNoneMatch !== undefined && isKnownToClient(ifNoneMatch, encoded.etag)) {
    reply.code(304);
    return null;
  }
  if (encoded.coding !== undefined) reply.header("content-encoding", encoded.coding);
  reply.header("content-type", from.contentType);
  return encoded.body;
}

/** Sets status and headers for what the client accepts and knows already; answers the bytes that are left to send. */
export function payloadFor(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation,
): Buffer | null | Promise<Buffer | null> {
  const { "accept-encoding": accepted } = request.headers;
  const small = representation.plain.body.length < worthCompressingBytes;
  const coding = small || accepted === undefined ? null : codings.negotiate(accepted);
  if (coding === null) return prepare(request, reply, representation, representation.plain);
  const encoded = encode(representation, coding);
  return encoded instanceof Promise
    ? encoded.then((made) => prepare(request, reply, representation, made))
    : prepare(request, reply, representation, encoded);
}

/** What is at hand is sent at once: a promise, even a kept one, would cost a warm request dearly. */
export function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation | Promise<Representation>,
): FastifyReply | Promise<FastifyReply> {
  if (representation instanceof Promise)
    return representation.then((loaded) => sendRepresentation(request, reply, loaded));
  const payload = payloadFor(request, reply, representation);
  return payload instanceof Promise ? payload.then((bytes) => reply.send(bytes)) : reply.send(payload);
}
