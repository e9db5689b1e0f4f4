import { createHash } from "node:crypto";
import type { MediaDto, MediaKind } from "@ehr-marketplace/contracts";
import { Problem, type ProblemKind, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Kysely, Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { requireKeptListing, requireListing } from "../listings/read-listings.ts";
import { checkDocument, documentType } from "./check-document.ts";
import { mediaProblems } from "./media-errors.ts";
import type { MediaStorage } from "./media-storage.ts";
import {
  countMedia,
  countUploadsSince,
  insertMedia,
  insertUnstoredUpload,
  lockSameFile,
  lockUploads,
  type MediaRow,
  markStored,
  postponeDeletion,
} from "./media-store.ts";
import { refusePurged } from "./purge-media.ts";
import { storageUnavailable } from "./read-media.ts";
import { readPicture } from "./read-picture.ts";

export interface UploadDeps {
  database: Kysely<DB>;
  storage: MediaStorage;
  clock: () => Date;
  /** Where clients reach this service. */
  publicUrl: string;
}

const maxFilesPerListing = 500;
const maxBytesPerListing = 500 * 1_048_576;
const maxUploadsPerDay = 500;
const dayMs = 86_400_000;

interface File {
  bytes: Buffer;
  contentType: string;
  width: number | null;
  height: number | null;
}

interface SentFile {
  slug: string;
  /** Undefined: what the file says that it is. */
  kind: MediaKind | undefined;
  contentType: string;
  bytes: Buffer;
}

/** Of a file as it is stored: icons are PNG, screenshots WebP. */
const kindOf = (contentType: string): MediaKind =>
  contentType === documentType ? "document" : contentType === "image/png" ? "icon" : "screenshot";

async function readFile({ kind: given, contentType, bytes }: SentFile, vendor: string): Promise<File> {
  const isDocument = contentType === documentType;
  const kind = given ?? (isDocument ? "document" : undefined);
  if (isDocument !== (kind === "document")) {
    const accepted = kind === "document" ? "a PDF" : "PNG, JPEG or WebP";
    throw new Problem(mediaProblems.unusableFile, `With kind=${kind}, the file has to be ${accepted}.`);
  }
  if (kind !== "document") return readPicture(bytes, { declaredType: contentType, kind, vendor });
  checkDocument(bytes);
  return { bytes, contentType, width: null, height: null };
}

const isProblem = (error: unknown, { code }: ProblemKind): boolean =>
  error instanceof Problem && error.kind.code === code;

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Stores a file for a listing. The same file, uploaded again, has the same id. */
export async function uploadMedia(deps: UploadDeps, by: VendorContext, sent: SentFile): Promise<MediaDto> {
  const { database, storage, clock } = deps;
  const { appId, vendorId } = await requireListing(database, by, sent.slug);
  const now = clock();
  const findSame = async (
    transaction: Transaction<DB>,
    kind: MediaKind,
    hash: Parameters<typeof lockSameFile>[2],
  ): Promise<MediaRow | undefined> => {
    const same = await lockSameFile(transaction, { app_id: appId, kind: kind.toUpperCase() }, hash);
    if (same !== undefined) await postponeDeletion(transaction, same.id, now);
    return same;
  };

  // Before the file is decoded, which is what costs.
  const sourceSha256 = hashOf(sent.bytes);
  await refusePurged(database, { vendorId, sourceSha256 });
  const { kind: given } = sent;
  const sentBefore =
    given &&
    (await database
      .transaction()
      .execute((transaction) => findSame(transaction, given, { source_sha256: sourceSha256 })));
  if (sentBefore?.stored_at) return toDto(deps, sentBefore);
  await refuseTooManyFiles(database, { appId, bytes: 0 });
  await refuseTooManyUploads(database, { vendorId, now });
  /** What is decoded and not stored as a new file counts, too. */
  const countDecoded = (connection: Kysely<DB>): Promise<void> =>
    insertUnstoredUpload(connection, { vendor_id: vendorId, sent_at: now });
  const file = await readFile(sent, vendorId).catch(async (error: unknown) => {
    if (isProblem(error, mediaProblems.unusableFile)) await countDecoded(database);
    throw error;
  });
  const sha256 = hashOf(file.bytes);
  const kind = kindOf(file.contentType);

  // The row is committed before the object is stored, so that a process that dies here leaves no object without a row.
  const insert = async (transaction: Transaction<DB>): Promise<MediaRow> => {
    await requireKeptListing(transaction, appId);
    await lockUploads(transaction, vendorId);
    await refusePurged(transaction, { vendorId, sha256, sourceSha256 });
    const same = await findSame(transaction, kind, { sha256 });
    if (same !== undefined) {
      await countDecoded(transaction);
      return same;
    }
    await refuseTooManyFiles(transaction, { appId, bytes: file.bytes.length });
    await refuseTooManyUploads(transaction, { vendorId, now });
    const id = uuid();
    const { contentType, width, height } = file;
    const inserted = {
      id,
      vendor_id: vendorId,
      app_id: appId,
      kind: kind.toUpperCase(),
      object_key: `${sha256}-${id}`,
      sha256,
      source_sha256: sourceSha256,
      content_type: contentType,
      bytes: file.bytes.length,
      width,
      height,
      created_at: now,
      stored_at: null,
      unused_since: now,
    };
    await insertMedia(transaction, inserted);
    return { ...inserted, published_at: null, deleting_at: null, purged_at: null };
  };
  const row = await database
    .transaction()
    .execute(insert)
    .catch(async (error: unknown) => {
      if (isProblem(error, mediaProblems.tooMany) || isProblem(error, mediaProblems.unusableFile)) {
        await countDecoded(database);
      }
      throw error;
    });
  if (row.stored_at !== null) return toDto(deps, row);

  await storage.put(row.object_key, file).catch((error: unknown) => {
    throw storageUnavailable(error);
  });
  await database.transaction().execute(async (transaction) => {
    const { id, bytes, content_type: contentType } = row;
    // An identical upload at the same time may have been faster.
    if (!(await markStored(transaction, id, now))) return;
    await recordAudit(transaction, {
      by,
      role: by.role,
      at: now,
      onBehalfOf: onBehalfOf(by),
      action: "media.upload",
      target: { kind: "listing", id: sent.slug },
      before: null,
      after: { id, kind, contentType, bytes, sha256 },
    });
  });
  // Purged since the row was inserted, perhaps before there was an object to delete.
  await refusePurged(database, { vendorId, sha256, sourceSha256 }).catch(async (error: unknown) => {
    await storage.delete(row.object_key);
    throw error;
  });
  return toDto(deps, row);
}

async function refuseTooManyFiles(
  database: Kysely<DB>,
  { appId, bytes }: { appId: string; bytes: number },
): Promise<void> {
  const has = await countMedia(database, appId);
  if (has.files >= maxFilesPerListing || has.bytes + bytes > maxBytesPerListing) {
    const detail = `The listing has ${has.files} files of ${has.bytes} bytes in total; ${maxFilesPerListing} files and ${maxBytesPerListing} bytes are allowed.`;
    throw new Problem(mediaProblems.tooMany, detail);
  }
}

/** Counts what wasn't stored, too: decoding it costs as much. */
async function refuseTooManyUploads(
  database: Kysely<DB>,
  { vendorId, now }: { vendorId: string; now: Date },
): Promise<void> {
  const { uploads, oldest } = await countUploadsSince(database, vendorId, new Date(now.getTime() - dayMs));
  if (uploads >= maxUploadsPerDay && oldest !== null) {
    const retryAfterMs = oldest.getTime() + dayMs - now.getTime();
    const detail = `The vendor has sent ${uploads} files in 24 hours, which is the limit.`;
    throw rateLimitProblem(mediaProblems.tooManyUploads, detail, { limit: maxUploadsPerDay, retryAfterMs });
  }
}

function toDto({ publicUrl }: UploadDeps, row: MediaRow): MediaDto {
  const { id, width, height, content_type: contentType, bytes } = row;
  return { id, url: `${publicUrl}/media/${id}`, width, height, contentType, bytes };
}
