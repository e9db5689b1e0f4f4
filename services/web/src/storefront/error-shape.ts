import { type ErrorShape, problemShape } from "@ehr-marketplace/service-kit/http";
import type { BuiltPages } from "./built-pages.ts";
import type { PageContext } from "./page-data.ts";

/** Errors as problem documents, and for browsers as pages that help. */
export const createErrorShape = (
  { pages, urls }: BuiltPages,
  { headers, ...site }: Pick<PageContext, "publicUrl" | "vendorsUrl"> & { headers: Record<string, string> },
): ErrorShape => ({
  ...problemShape,
  page: {
    headers,
    write: ({ kind, message }, requestId) =>
      pages.error({ status: kind.status, requestId, detail: message }, { ...site, assets: urls, path: "/" }),
  },
});
