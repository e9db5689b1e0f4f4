import { type Static, Type } from "typebox";

export const pageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 100,
      description: "Maximum number of items, at most 1,000; larger values are treated as 1,000",
    }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: 200, pattern: "^[\\w-]+$", description: "`next` of the previous page" }),
  ),
});
export type PageQuery = Static<typeof pageQuery> & { limit: number };
