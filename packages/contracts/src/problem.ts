import { type Static, Type } from "typebox";

/** RFC 9457. */
export const problemDocument = Type.Object(
  {
    type: Type.String({
      format: "uri-reference",
      description: "Stable path of this kind of problem; it leads to a page that says what to do",
      examples: ["/problems/invalid-request"],
    }),
    title: Type.String({ description: "What kind of problem it is, the same words each time" }),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: "What happened this time, for people" }),
    instance: Type.String({ description: "The request's id; quote it when you report a problem" }),
    code: Type.String({ description: "What kind of problem it is, for programs", examples: ["invalid-request"] }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description: "JSON Pointer to what is wrong, below `/query`, `/path`, `/headers` or `/body`",
            examples: ["/query/size"],
          }),
          detail: Type.String(),
        }),
      ),
    ),
  },
  { $id: "Problem", title: "Problem" },
);
export type ProblemDocument = Static<typeof problemDocument>;
