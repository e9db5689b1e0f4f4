import { Readable } from "node:stream";
import { isMatch, networkOf, RequestSlots, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { documentType } from "./check-document.ts";
import { type MediaFile, openMedia, type ReadMediaDeps } from "./read-media.ts";

/** How long the upload or download of a file may take. Slow clients keep slots, and connections to the bucket. */
export const maxTransferMs = 60_000;

/** A browser must neither guess another type nor run anything, whatever the file contains. */
export const fileHeaders = {
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
};

/** Public files have slots of their own, and so have those of drafts: who reads one kind slowly doesn't delay the other. */
export const createDownloadSlots = (): RequestSlots =>
  new RequestSlots({
    total: 64,
    perKey: 16,
    problem: standardProblems.overloaded,
    detail: "Your address reads too many files at once.",
  });

/** Whether the client has the current version. */
export const isKnown = ({ headers }: FastifyRequest, etag: string): boolean =>
  headers["if-none-match"]?.split(",").some((tag) => isMatch(tag.trim(), etag)) === true;

/** Streams a file. The slot is released once the response is sent, or the client has gone. */
export async function sendMedia(
  deps: ReadMediaDeps,
  slots: RequestSlots,
  { request, reply, file }: { request: FastifyRequest; reply: FastifyReply; file: MediaFile },
): Promise<FastifyReply> {
  const etag = `"${file.sha256}"`;
  void reply.headers({ ...fileHeaders, etag });
  if (isKnown(request, etag)) return reply.code(304).send();
  if (file.content_type === documentType) {
    void reply.header("content-disposition", `attachment; filename="${file.id}.pdf"`);
  }
  void reply.headers({ "content-type": file.content_type, "content-length": file.bytes });
  // Fastify discards the payload of a HEAD request; with a stream, it keeps the length.
  if (request.method === "HEAD") return reply.send(Readable.from([]));
  const slot = slots.take(request, reply, networkOf(request.ip));
  return reply.send(await slot.run(() => openMedia(deps, file)));
}
