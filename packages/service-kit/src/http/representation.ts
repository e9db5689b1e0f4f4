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

/** The bytes of one resource: created once, and compressed at most once per content coding. */
export interface Representation {
  contentType: string;
  cacheControl: string;
  vary: string;
  plain: Encoded;
  compressed: Map<Coding, Encoded | Promise<Encoded>>;
}

const minCompressedBytes = 1_024;

const compressors: Record<Coding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

// Clients send few different Accept-Encoding headers; the LRU cache evicts the made-up ones of an attacker.
const codings = new Negotiator<Coding>({
  supportedValues: ["br", "gzip"],
  cache: new LRUCache<string, Coding>({ max: 100 }) as never,
});

export function createRepresentation(
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
      const encodedBody = { body: compressed, etag: `${etag.slice(0, -1)}-${coding}"`, coding };
      representation.compressed.set(coding, encodedBody);
      return encodedBody;
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

/** Negotiates the content coding, handles If-None-Match, sets status and headers, and returns the bytes to send. */
export function preparePayload(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation,
): Buffer | null | Promise<Buffer | null> {
  const { "accept-encoding": accepted } = request.headers;
  const small = representation.plain.body.length < minCompressedBytes;
  const coding = small || accepted === undefined ? null : codings.negotiate(accepted);
  if (coding === null) return prepare(request, reply, representation, representation.plain);
  const encoded = encode(representation, coding);
  return encoded instanceof Promise
    ? encoded.then((encodedBody) => prepare(request, reply, representation, encodedBody))
    : prepare(request, reply, representation, encoded);
}

/** A representation that is already loaded is sent synchronously, because awaiting a promise slows down warm requests. */
export function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation | Promise<Representation>,
): FastifyReply | Promise<FastifyReply> {
  if (representation instanceof Promise)
    return representation.then((loaded) => sendRepresentation(request, reply, loaded));
  const payload = preparePayload(request, reply, representation);
  return payload instanceof Promise ? payload.then((bytes) => reply.send(bytes)) : reply.send(payload);
}
