import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { ListingDraft } from "@ehr-marketplace/contracts";
import {
  approveReview,
  editDraft,
  featureApp,
  getListing,
  type RequestContext,
  type ReviewDeps,
  submitListing,
  type UploadDeps,
  unfeatureApp,
  uploadMedia,
  type VendorContext,
  withdrawListing,
} from "@ehr-marketplace/marketplace/publishing";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { DemoApp } from "./demo-app.ts";
import { type DemoPicture, picturesOf } from "./pictures.ts";

export type PublishDeps = Omit<ReviewDeps & UploadDeps, "clock">;

/** What the catalog has of an app. */
export interface PublishedApp {
  iconUrl: string;
  featured: boolean;
  draft: ListingDraft;
}

const issuer = "demo data";
const nobody = { issuer, organisations: new Map(), ignoredRoleReasons: [] };

/** Reviews the demo apps. */
export const demoOperator: RequestContext = {
  caller: { ...nobody, subject: "operator", roles: new Set(["operator"]), vendors: new Set() },
  requestId: issuer,
};

export const developerOf = (vendor: string): VendorContext => ({
  caller: { ...nobody, subject: vendor, roles: new Set(["vendor-developer"]), vendors: new Set([vendor]) },
  requestId: issuer,
  vendor,
  role: "vendor-developer",
});

/** A plan that is on sale never changes, so plans are known by their names, and files by their alternative texts. */
const comparable = ({ icon, screenshots = [], plans = [], ...draft }: ListingDraft): object => ({
  ...draft,
  hasIcon: icon !== undefined,
  screenshots: screenshots.map(({ text }) => text),
  plans: plans.map(({ name }) => name),
});

const isPublished = (published: PublishedApp, wanted: ListingDraft, publicUrl: string): boolean =>
  published.iconUrl.startsWith(`${publicUrl}/media/`) &&
  isDeepStrictEqual(comparable(published.draft), comparable(wanted));

const maxAttempts = 5;

/** Tries an upload several times. Our pictures are valid, but a busy machine may not decode one within the time limit for vendors. */
async function insist<T>(store: () => Promise<T>, attempt = 1): Promise<T> {
  try {
    return await store();
  } catch (error) {
    const isRefused = error instanceof Problem && error.kind.status === 422;
    if (!isRefused || attempt === maxAttempts) throw error;
    return insist(store, attempt + 1);
  }
}

/**
 * Publishes an app as a vendor and an operator do: files, draft, submission, approval. Its first release and the current version are
 * two revisions, so that the catalog has the times of both. An app that the catalog has as it should be stays as it is.
 */
export async function publishDemoApp(
  deps: PublishDeps,
  app: DemoApp,
  { draft, published }: { draft: ListingDraft; published: PublishedApp | undefined },
): Promise<void> {
  const { icon, screenshots } = picturesOf(app);
  const withTexts = { ...draft, icon: "", screenshots: screenshots.map(({ text }) => ({ text })) };
  const updatedAt = published === undefined ? new Date(app.updatedAt) : new Date();
  if (published === undefined || !isPublished(published, withTexts, deps.publicUrl)) {
    const begun = published === undefined ? hoursBefore(new Date(app.publishedAt), 2) : updatedAt;
    const upload = async (picture: DemoPicture): Promise<string> => {
      const { kind, contentType, file } = picture;
      const sent = { slug: app.slug, kind, contentType, bytes: await readFile(file) };
      const store = () => uploadMedia({ ...deps, clock: () => begun }, developerOf(app.vendor), sent);
      return (await insist(store)).id;
    };
    const complete: ListingDraft = { ...draft, icon: await upload(icon), screenshots: [] };
    for (const picture of screenshots) {
      complete.screenshots?.push({ media: await upload(picture), text: picture.text });
    }
    if (published === undefined) {
      const first = { ...complete, version: "1.0.0", releaseNotes: "The first release." };
      await publishRevision(deps, app, first, new Date(app.publishedAt));
    }
    await publishRevision(deps, app, complete, updatedAt);
  }
  if (app.featured !== (published?.featured ?? false)) {
    const change = app.featured ? featureApp : unfeatureApp;
    await change({ ...deps, clock: () => updatedAt }, demoOperator, app.slug);
  }
}

/** Makes a revision that is approved at that time. */
async function publishRevision(
  deps: PublishDeps,
  { slug, vendor }: DemoApp,
  draft: ListingDraft,
  at: Date,
): Promise<void> {
  const by = developerOf(vendor);
  const hoursEarlier = (hours: number) => ({ ...deps, clock: () => hoursBefore(at, hours) });
  // Left by a process that was stopped while it loaded the demo data.
  if ((await getListing(deps, by, slug)).listing.status === "in-review") {
    await withdrawListing(hoursEarlier(2), by, slug);
  }
  const { etag, listing } = await getListing(deps, by, slug);
  const plans = (draft.plans ?? []).map((plan) => listing.draft.plans?.find(({ name }) => name === plan.name) ?? plan);
  const wanted: ListingDraft = { ...draft, plans };
  // A patch would keep members of objects that only the listing's draft has.
  const removed = Object.entries(listing.draft).filter(
    ([name, value]) => typeof value === "object" && !isDeepStrictEqual(value, wanted[name as keyof ListingDraft]),
  );
  const patch = Object.fromEntries(removed.map(([name]) => [name, null]));
  const emptied =
    removed.length === 0 ? etag : (await editDraft(hoursEarlier(2), by, { slug, patch, ifMatch: etag })).etag;
  await editDraft(hoursEarlier(2), by, { slug, patch: wanted, ifMatch: emptied });
  const { listing: submitted } = await submitListing(hoursEarlier(1), by, slug);
  if (submitted.review === null) throw new Error(`${slug} was submitted, but has no review`);
  await approveReview({ ...deps, clock: () => at }, demoOperator, submitted.review.id, {});
}

const hoursBefore = (time: Date, hours: number): Date => new Date(time.getTime() - hours * 3_600_000);
