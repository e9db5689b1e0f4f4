import type { Readable } from "node:stream";
import type { MediaKind } from "@ehr-marketplace/contracts";
import type { KnownMedia } from "@ehr-marketplace/listing-rules";
import { Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { requireListing } from "../listings/read-listings.ts";
import { mediaProblems } from "./media-errors.ts";
import type { MediaStorage } from "./media-storage.ts";
import { findMediaOfListing, findMediaRow, findPublishedRow, type MediaRow } from "./media-store.ts";

export interface ReadMediaDeps {
  database: Kysely<DB>;
  storage: MediaStorage;
}

export type MediaFile = Pick<MediaRow, "id" | "object_key" | "sha256" | "content_type" | "bytes">;

export const mediaNotFound = (): Problem => new Problem(mediaProblems.notFound, "There is no media with that id.");

const purged = (): Problem => new Problem(mediaProblems.gone, "An operator of the marketplace has removed the file.");

/** What the check of a draft has to know of the listing's media, by id. */
export async function findKnownMedia(database: Kysely<DB>, appId: string): Promise<Map<string, KnownMedia>> {
  const rows = await findMediaOfListing(database, appId);
  return new Map(
    rows.map(({ id, kind, width, height }) => [id, { kind: kind.toLowerCase() as MediaKind, width, height }]),
  );
}

export async function getOwnMedia(
  { database }: ReadMediaDeps,
  by: VendorContext,
  { slug, id }: { slug: string; id: string },
): Promise<MediaFile> {
  const { appId } = await requireListing(database, by, slug);
  const row = await findMediaRow(database, appId, id);
  if (row === undefined) throw mediaNotFound();
  if (row.purged_at !== null) throw purged();
  return row;
}

/** Media of a published revision. Drafts are nobody else's business, so theirs is 404. Read anew for each request: nothing is cached here. */
export async function getPublishedMedia({ database }: ReadMediaDeps, id: string): Promise<MediaFile> {
  const row = await findPublishedRow(database, id);
  if (row === undefined) throw mediaNotFound();
  if (row.purged_at !== null) throw purged();
  if (row.suspended_at !== null)
    throw new Problem(mediaProblems.gone, "The app that the file belongs to is suspended.");
  return row;
}

export const storageUnavailable = (cause: unknown): Problem =>
  new Problem(standardProblems.unavailable, "The storage of media is unavailable.", {
    headers: { "retry-after": "5" },
    cause,
  });

export async function openMedia({ storage }: ReadMediaDeps, { id, object_key }: MediaFile): Promise<Readable> {
  const stream = await storage.read(object_key).catch((error: unknown) => {
    throw storageUnavailable(error);
  });
  if (stream === undefined) throw new Error(`the object of media ${id} is missing in the storage`);
  return stream;
}
