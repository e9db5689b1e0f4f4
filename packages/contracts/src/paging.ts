import { type Static, Type } from "typebox";

export const pageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, default: 100, description: "Most items to answer; above 1,000, 1,000 are served" }),
  ),
  after: Type.Optional(Type.String({ maxLength: 200, pattern: "^[\\w-]+$", description: "`next` of the page before" })),
});
export type PageQuery = Static<typeof pageQuery> & { limit: number };
