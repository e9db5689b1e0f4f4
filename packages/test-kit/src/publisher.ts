import assert from "node:assert/strict";
import { crc32, deflateSync } from "node:zlib";
import type { DraftPlan, ListingDraft, ListingDto, MediaDto, ReviewDto } from "@ehr-marketplace/contracts";

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** A black PNG. */
export function drawPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

export const freePlan: DraftPlan = { name: "Free", pricingModel: "FREE", currency: "USD", amount: 0 };

/** Nothing is wrong with it, once it has pictures. */
export const completeDraft: ListingDraft = {
  name: "Quill",
  summary: "Notes that write themselves",
  description: "# Quill\n\nWrites **notes**.",
  category: "DOCUMENTATION",
  version: "1.0.0",
  audience: "CLINICIAN",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://quill.example/launch",
  fhirScopes: "openid launch patient/Observation.rs",
  scopePurposes: { "patient/Observation.rs": "Shows the last results beside the note" },
  oauth: { type: "PUBLIC", redirectUris: ["https://quill.example/back"] },
  supportUrl: "https://quill.example/help",
  privacyPolicyUrl: "https://quill.example/privacy",
  termsUrl: "https://quill.example/terms",
  plans: [freePlan],
};

interface RequestOptions {
  method?: string;
  /** Sent as JSON; bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Publisher<Who extends string> {
  request(who: Who | "operator", path: string, options?: RequestOptions): Promise<Response>;
  read(slug: string): Promise<ListingDto & { etag: string }>;
  upload(slug: string, kind: "icon" | "screenshot" | "document", file?: Buffer): Promise<MediaDto>;
  edit(slug: string, changes: object): Promise<ListingDto>;
  /** Creates a listing with a draft that can be submitted. */
  create(slug: string, changes?: ListingDraft): Promise<ListingDto>;
  /** Submits the draft, and returns the review's id. */
  submit(slug: string): Promise<string>;
  approve(reviewId: string): Promise<ReviewDto>;
  /** From nothing to the catalog. */
  publish(slug: string, changes?: ListingDraft): Promise<ReviewDto>;
}

async function parse<T>(response: Response, status: number): Promise<T> {
  assert.equal(response.status, status, await response.clone().text());
  return (await response.json()) as T;
}

/** Publishes apps of a vendor over HTTP, as its developer and an operator would. */
export function publishWith<Who extends string>(request: Publisher<Who>["request"], vendor: Who): Publisher<Who> {
  const path = (slug: string): string => `/developer/apps/${slug}`;

  const read: Publisher<Who>["read"] = async (slug) => {
    const response = await request(vendor, path(slug));
    const etag = response.headers.get("etag") ?? "";
    return { ...(await parse<ListingDto>(response, 200)), etag };
  };
  const edit: Publisher<Who>["edit"] = async (slug, body) => {
    const headers = { "if-match": (await read(slug)).etag };
    return parse<ListingDto>(await request(vendor, path(slug), { method: "PATCH", body, headers }), 200);
  };
  const files = {
    icon: { body: drawPng(512, 512), type: "image/png" },
    screenshot: { body: drawPng(1_280, 800), type: "image/png" },
    document: { body: Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"), type: "application/pdf" },
  };
  const upload: Publisher<Who>["upload"] = async (slug, kind, file) => {
    const { body, type } = files[kind];
    const headers = { "content-type": type };
    return parse(await request(vendor, `${path(slug)}/media?kind=${kind}`, { body: file ?? body, headers }), 201);
  };
  const create: Publisher<Who>["create"] = async (slug, changes = {}) => {
    await parse(await request(vendor, "/developer/apps", { body: { slug, name: "Quill" } }), 201);
    const icon = await upload(slug, "icon");
    const screenshot = await upload(slug, "screenshot");
    const screenshots = [{ media: screenshot.id, text: "A note beside the chart" }];
    return edit(slug, { ...completeDraft, icon: icon.id, screenshots, ...changes });
  };
  const submit: Publisher<Who>["submit"] = async (slug) => {
    const listing = await parse<ListingDto>(await request(vendor, `${path(slug)}/submit`, { method: "POST" }), 200);
    assert.ok(listing.review !== null);
    return listing.review.id;
  };
  const approve: Publisher<Who>["approve"] = async (id) =>
    parse<ReviewDto>(await request("operator", `/admin/reviews/${id}/approve`, { body: {} }), 200);
  return {
    request,
    read,
    upload,
    edit,
    create,
    submit,
    approve,
    async publish(slug, changes) {
      await create(slug, changes);
      return approve(await submit(slug));
    },
  };
}
