import { responseOf } from "@ehr-marketplace/service-kit/http";

export const listingEtag = { type: "string", description: "The listing's version, for `If-Match`" };

/** A response with a listing and its ETag, for the API reference. */
export const listingResponse = (description: string): object => ({
  ...responseOf(description, "ListingDto"),
  headers: { etag: listingEtag },
});
