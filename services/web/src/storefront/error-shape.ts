import { type ErrorShape, problemShape } from "@ehr-marketplace/service-kit/http";
import type { BuiltPages } from "./built-pages.ts";
import type { MessageData, PageContext } from "./page-data.ts";

type Site = Pick<PageContext, "publicUrl" | "vendorsUrl" | "supportUrl"> & { headers: Record<string, string> };

/** Errors as problem documents, and for browsers as pages that help. */
export const createErrorShape = ({ pages, urls }: BuiltPages, { headers, ...site }: Site): ErrorShape => ({
  ...problemShape,
  page: {
    headers,
    write: ({ kind, message }, requestId) =>
      pages.error(
        { status: kind.status, code: kind.code, requestId, detail: message },
        { ...site, assets: urls, path: "/" },
      ),
  },
});

/** A page of a few words, in the storefront's frame, with its headers. */
export type WriteMessage = (message: MessageData) => { headers: Record<string, string>; html: string };

export const createMessageWriter =
  ({ pages, urls }: BuiltPages, { headers, ...site }: Site): WriteMessage =>
  (message) => ({ headers, html: pages.message(message, { ...site, assets: urls, path: "/" }) });
