import { listingParams, mediaDto, mediaParams, uploadMediaQuery } from "@ehr-marketplace/contracts";
import {
  invalidRequest,
  problemResponses,
  RequestSlots,
  responseOf,
  type Slot,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { errorCodes, type FastifyInstance, type FastifyRequest } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { documentType } from "./check-document.ts";
import { mediaProblems } from "./media-errors.ts";
import { getOwnMedia, type ReadMediaDeps } from "./read-media.ts";
import { pictureTypes } from "./read-picture.ts";
import { createDownloadSlots, maxTransferMs, sendMedia } from "./send-media.ts";
import { type UploadDeps, uploadMedia } from "./upload-media.ts";

const maxFileBytes = 5 * 1_048_576;
/** Limits the memory for bodies to 160 MiB. Slow senders take no slot of others: pictures are decoded once they are received. */
const maxUploads = 32;
const acceptedTypes = [...pictureTypes, documentType];
const tags = ["Listings"];
const access = ["vendor-developer", "operator"] as const;

/** The API reference can't derive how to send a file from a schema. */
const uploadSample = {
  "x-codeSamples": [
    {
      lang: "Shell",
      label: "curl",
      source: `curl "$API/developer/apps/northwind-scribe/media?kind=icon" \\
  -H "Authorization: Bearer $TOKEN" -H "Content-Type: image/png" --data-binary @icon.png`,
    },
  ],
};

/** Media of vendors' own listings. */
export async function developerMediaRoutes(scope: FastifyInstance, options: UploadDeps & ReadMediaDeps): Promise<void> {
  scope.addSchema(mediaDto);
  acceptFiles(scope);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const uploadSlots = new RequestSlots({
    total: maxUploads,
    perKey: 2,
    problem: mediaProblems.tooManyUploads,
    detail: "The vendor has two uploads in progress, which is the limit.",
  });
  const downloadSlots = createDownloadSlots();
  const taken = new WeakMap<FastifyRequest, Slot>();

  routes.post(
    "/developer/apps/:slug/media",
    {
      bodyLimit: maxFileBytes,
      // Before the body is read: without a slot, it isn't kept in memory.
      onRequest: async (request, reply) => {
        taken.set(request, uploadSlots.take(request, reply, vendorContextOf(request).vendor));
      },
      config: { access, acceptedMediaTypes: acceptedTypes.join(", "), timeoutMs: maxTransferMs, hasOwnSlots: true },
      schema: {
        ...uploadSample,
        tags,
        operationId: "uploadMedia",
        summary: "Upload a file",
        description:
          "The file is the body: PNG, JPEG or WebP, or a PDF for a document, of at most 5 MiB. A picture is decoded and encoded again without metadata: an icon as PNG of 512 × 512 pixels, a screenshot as WebP at most 1920 wide. The same file has the same id. Files that nothing refers to are deleted after 30 days.",
        headers: vendorHeaders,
        params: listingParams,
        querystring: uploadMediaQuery,
        body: { content: Object.fromEntries(acceptedTypes.map((type) => [type, { schema: {} }])) },
        response: {
          201: responseOf("The file, as stored", "MediaDto"),
          ...problemResponses(401, 403, 404, 413, 415, {
            409: "The listing has too many files",
            422: "The file can't be used; `detail` says why",
            429: "Too many requests, or uploads; retry after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const body: unknown = request.body;
      if (!Buffer.isBuffer(body)) throw invalidRequest("/body", "is required; send the file");
      const sent = {
        slug: request.params.slug,
        kind: request.query.kind,
        contentType: mediaTypeOf(request),
        bytes: body,
      };
      const work = (): ReturnType<typeof uploadMedia> => uploadMedia(options, vendorContextOf(request), sent);
      const slot = taken.get(request);
      if (slot === undefined) throw new Error("the request has no upload slot");
      return reply.code(201).send(await slot.run(work));
    },
  );

  routes.get(
    "/developer/apps/:slug/media/:id",
    {
      config: { access, timeoutMs: maxTransferMs },
      schema: {
        tags,
        operationId: "getMedia",
        summary: "Get a file",
        description:
          "A file of the vendor's listing, published or not; operators name the vendor in `X-Vendor-Slug`. Documents are downloads.",
        headers: vendorHeaders,
        params: mediaParams,
        response: {
          200: {
            description: "The file",
            content: Object.fromEntries(
              ["image/png", "image/webp", documentType].map((type) => [type, { schema: {} }]),
            ),
          },
          304: { description: "Unchanged since the response whose ETag was sent as `If-None-Match`", type: "null" },
          ...problemResponses(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const file = await getOwnMedia(options, vendorContextOf(request), request.params);
      return sendMedia(options, downloadSlots, { request, reply, file });
    },
  );
}

const mediaTypeOf = ({ headers }: FastifyRequest): string =>
  headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Reads files instead of JSON. Other bodies are read too, up to the limit, because many clients can't read a response before that. */
function acceptFiles(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(acceptedTypes, { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body.length === 0 ? undefined : body),
  );
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(body.length === 0 ? null : errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(), undefined);
  });
}
