import { type Static, Type } from "typebox";
import { nullable } from "./wire-types.ts";

export const pageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 100,
      description: "Maximum number of items, at most 1,000; larger values are treated as 1,000",
    }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: "^[\\w-]+$",
      "x-error-message": "must be `next` of the previous page",
      description: "`next` of the previous page",
    }),
  ),
});
export type PageQuery = Static<typeof pageQuery> & { limit: number };

/** Of every page of a list. */
export const nextCursor = nullable(Type.String(), "The `after` of the next page; null on the last page");
