import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from "fastify";
import { anyOriginHeaders } from "./any-origin.ts";
import { invalidRequest } from "./invalid-request.ts";
import { escapePointerSegment, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

export const securityHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
};

const forAnyOrigin = { ...securityHeaders, ...anyOriginHeaders };

export function setStandardHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(request.routeOptions.config.anyOrigin === true ? forAnyOrigin : securityHeaders);
  reply.header("x-request-id", request.id);
}

/** Sets `no-store`, because responses depend on the caller and must not be shared by caches. */
export function disableCaching(scope: FastifyInstance): void {
  scope.addHook("onRequest", (_request, reply, next) => {
    reply.header("cache-control", "no-store");
    next();
  });
}

export interface UnstorableText {
  pointer: string;
  /** For example "contains a NUL character". */
  detail: string;
}

/** Describes what a text contains that PostgreSQL can't store. */
type DescribeText = (text: string) => string | undefined;

export const describeNul: DescribeText = (text) => (text.includes("\0") ? "contains a NUL character" : undefined);

const describeUnstorable: DescribeText = (text) =>
  describeNul(text) ?? (text.isWellFormed() ? undefined : "contains half of a surrogate pair");

/**
 * Finds the first text or name that PostgreSQL can't store: NUL is no character of its text, and half of a surrogate pair, which
 * JSON can write as an escape, is none of UTF-8. It recurses, so the value's depth must be bounded: `registerJsonParser` refuses
 * bodies that nest too deep.
 */
export function findUnstorable(
  value: unknown,
  name: string,
  describe: DescribeText = describeUnstorable,
): UnstorableText | undefined {
  if (typeof value === "string") {
    const detail = describe(value);
    return detail === undefined ? undefined : { pointer: `/${escapePointerSegment(name)}`, detail };
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Readable)
    return undefined;
  for (const [key, each] of Object.entries(value)) {
    const detail = describe(key);
    const found = detail === undefined ? findUnstorable(each, key, describe) : { pointer: "", detail };
    if (found !== undefined) return { ...found, pointer: `/${escapePointerSegment(name)}${found.pointer}` };
  }
  return undefined;
}

const methodsWithoutBody = new Set(["GET", "HEAD", "OPTIONS"]);

const refuseUnstorableBody: preValidationHookHandler = (request, _reply, next) => {
  const found = request.body === undefined ? undefined : findUnstorable(request.body, "body");
  next(found === undefined ? undefined : invalidRequest(found.pointer, `${found.detail}, which is never valid`));
};

export function registerRequestGuards(server: FastifyInstance, urlBytes: number): void {
  server.addHook("onRequest", (request, reply, next) => {
    setStandardHeaders(request, reply);
    const { url = "", headers, httpVersion } = request.raw;
    if (url.length > urlBytes) {
      next(new Problem(standardProblems.uriTooLong, `The URL has ${url.length} bytes; the limit is ${urlBytes}.`));
    } else if (url.includes("%00")) {
      const inQuery = url.indexOf("?") !== -1 && url.indexOf("?") < url.lastIndexOf("%00");
      next(invalidRequest(inQuery ? "/query" : "/path", "contains a NUL character (%00), which is never valid"));
    } else if (headers.host === undefined && httpVersion === "1.1") {
      next(invalidRequest("/headers/host", "is required"));
    } else {
      next();
    }
  });

  server.addHook("onRoute", (route) => {
    if ([route.method].flat().every((method) => methodsWithoutBody.has(method))) return;
    route.preValidation = [refuseUnstorableBody, ...[route.preValidation ?? []].flat()];
  });
}
