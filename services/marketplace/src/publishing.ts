/** From a vendor's registration to its app in the catalog, without HTTP: the use cases, for the demo data of the local stack. */
export type { RequestContext } from "./access/request-context.ts";
export type { VendorContext } from "./access/vendor-context.ts";
export { defaultUsageLimits, parseUsageLimits } from "./billing/usage-limits.ts";
export { createListing } from "./listings/create-listing.ts";
export { editDraft } from "./listings/edit-draft.ts";
export { featureApp, unfeatureApp } from "./listings/operate-listing.ts";
export { getListing, type TaggedListing } from "./listings/read-listings.ts";
export { createStorage } from "./media/create-storage.ts";
export { type UploadDeps, uploadMedia } from "./media/upload-media.ts";
export { approveReview, type ReviewDeps } from "./reviews/decide-review.ts";
export { submitListing, withdrawListing } from "./reviews/submit-listing.ts";
export { putVendor } from "./vendors/put-vendor.ts";
