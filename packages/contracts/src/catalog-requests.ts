import { type Static, Type } from "typebox";
import { pageQuery } from "./paging.ts";

type WithDefaults<Query, Name extends keyof Query> = Query & Required<Pick<Query, Name>>;

/** The server refuses NUL in any input; the schema states it too, for clients generated from it. */
export const noNulPattern = "^[^\\u0000]*$";

export const slugPattern = "^[a-z0-9]+(-[a-z0-9]+)*$";

/** Much longer than any stored value, so that a long unknown slug is a 404 and a long unknown category an empty page, not a 400. */
export const maxLookupLength = 4_096;

export const sortProperties = ["name", "category", "publishedAt", "updatedAt", "popularity"] as const;

const category = Type.Optional(
  Type.String({
    pattern: noNulPattern,
    maxLength: maxLookupLength,
    description: "Only apps of this category, in upper or lower case; an unknown category has none",
    examples: ["DOCUMENTATION"],
  }),
);

export const listAppsQuery = Type.Object({
  category,
  vendor: Type.Optional(
    Type.String({
      pattern: noNulPattern,
      maxLength: maxLookupLength,
      description: "Only apps of the vendor with this slug; an unknown vendor has none",
      examples: ["northwind-health"],
    }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "Page number, from 0" })),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: "Apps per page, at most 100; larger values are treated as 100. `/apps/search` calls it `limit`",
    }),
  ),
  sort: Type.Optional(
    Type.String({
      pattern: `^(${sortProperties.join("|")})(,([Aa][Ss][Cc]|[Dd][Ee][Ss][Cc]))?$`,
      maxLength: 32,
      default: "name",
      "x-error-message": `must be one of: ${sortProperties.join(", ")}; alone, or followed by ,asc or ,desc`,
      description: "`property` or `property,asc|desc` (case-insensitive direction); ties are broken by id",
      examples: ["popularity,desc"],
    }),
  ),
});
/** After validation: fields with a default are set. */
export type ListAppsQuery = WithDefaults<Static<typeof listAppsQuery>, "page" | "size" | "sort">;

export const listVersionsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: "Maximum number of versions, at most 20; larger values are treated as 20",
    }),
  ),
  after: pageQuery.properties.after,
});
export type ListVersionsQuery = WithDefaults<Static<typeof listVersionsQuery>, "limit">;

export const searchAppsQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: noNulPattern,
      description:
        "Search text; required unless `category` is given. The search knows synonyms and abbreviations, and tolerates typos, missing accents and incomplete words",
      examples: ["scribe"],
    }),
  ),
  category,
  page: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "Page number, from 0" })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: "Apps per page, at most 100; larger values are treated as 100. `/apps` calls it `size`",
    }),
  ),
  highlight: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Adds `highlights` to each app: what matched in its texts. Then `limit` is at most 20",
    }),
  ),
});
export type SearchAppsQuery = WithDefaults<Static<typeof searchAppsQuery>, "limit" | "page" | "highlight">;
