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
  /** Other headers of every response with it. */
  headers: Record<string, string>;
  plain: Encoded;
  compressed: Map<Coding, Promise<Encoded>>;
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
  options: { contentType: string; cacheControl: string; vary?: string; headers?: Record<string, string> },
): Representation {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return {
    vary: "accept-encoding",
    headers: {},
    ...options,
    plain: { body: bytes, etag: `"${hash("sha1", bytes, "base64url")}"` },
    compressed: new Map(),
  };
}

function encode({ plain, compressed }: Representation, coding: Coding): Promise<Encoded> {
  let encoded = compressed.get(coding);
  if (encoded === undefined) {
    encoded = compress(plain, coding);
    compressed.set(coding, encoded);
  }
  return encoded;
}

async function compress({ body, etag }: Encoded, coding: Coding): Promise<Encoded> {
  return { body: await compressors[coding](body), etag: `${etag.slice(0, -1)}-${coding}"`, coding };
}

function isKnownToClient(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}

/** Negotiates the content coding, handles If-None-Match, sets status and headers, and returns the bytes to send. */
export async function preparePayload(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation,
): Promise<Buffer | null> {
  const { "accept-encoding": accepted, "if-none-match": ifNoneMatch } = request.headers;
  const small = representation.plain.body.length < minCompressedBytes;
  const coding = small || accepted === undefined ? null : codings.negotiate(accepted);
  const encoded = coding === null ? representation.plain : await encode(representation, coding);
  const { cacheControl, contentType, vary, headers } = representation;
  reply.headers({ "cache-control": cacheControl, etag: encoded.etag, vary, ...headers });
  if (ifNoneMatch !== undefined && isKnownToClient(ifNoneMatch, encoded.etag)) {
    reply.code(304);
    return null;
  }
  if (encoded.coding !== undefined) reply.header("content-encoding", encoded.coding);
  reply.header("content-type", contentType);
  return encoded.body;
}

export async function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  representation: Representation,
): Promise<FastifyReply> {
  return reply.send(await preparePayload(request, reply, representation));
}
