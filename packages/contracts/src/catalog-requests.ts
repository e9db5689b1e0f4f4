import { type Static, Type } from "typebox";

type WithDefaults<Query, Name extends keyof Query> = Query & Required<Pick<Query, Name>>;

/** A NUL is refused wherever it stands; said in the schema as well, so that clients made from it know. */
export const withoutNul = "^[^\\u0000]*$";

export const slugPattern = "^[a-z0-9]+(-[a-z0-9]+)*$";

/** Far longer than anything stored: an unknown slug is 404 and an unknown category an empty page, also where it is long. */
export const maxLookupLength = 4_096;

export const sortProperties = ["name", "category", "publishedAt", "updatedAt", "popularity"] as const;

const category = Type.Optional(
  Type.String({
    pattern: withoutNul,
    maxLength: maxLookupLength,
    description: "Only apps of this category; an unknown one has none",
    examples: ["DOCUMENTATION"],
  }),
);

export const listAppsQuery = Type.Object({
  category,
  page: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "Page number, from 0" })),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: "Apps per page; above 100, 100 are served",
    }),
  ),
  sort: Type.Optional(
    Type.String({
      pattern: `^(${sortProperties.join("|")})(,([Aa][Ss][Cc]|[Dd][Ee][Ss][Cc]))?$`,
      maxLength: 32,
      default: "name",
      "x-error-message": `must be one of: ${sortProperties.join(", ")}; alone, or followed by ,asc or ,desc`,
      description: "`property` or `property,asc|desc`, the direction in either case; ties are broken by id",
      examples: ["popularity,desc"],
    }),
  ),
});
/** As validated: what has a default is there. */
export type ListAppsQuery = WithDefaults<Static<typeof listAppsQuery>, "page" | "size" | "sort">;

export const searchAppsQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: withoutNul,
      description:
        "What to look for; may be absent only with `category`. Typos, accents and unfinished words are forgiven",
      examples: ["scribe"],
    }),
  ),
  category,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: "Most apps to answer; above 100, 100 are served",
    }),
  ),
});
export type SearchAppsQuery = WithDefaults<Static<typeof searchAppsQuery>, "limit">;
