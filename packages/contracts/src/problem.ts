import { type Static, Type } from "typebox";

/** RFC 9457. */
export const problemDocument = Type.Object(
  {
    type: Type.String({
      format: "uri-reference",
      description: "Stable path of this kind of problem; the page there says what to do",
      examples: ["/problems/invalid-request"],
    }),
    title: Type.String({ description: "Short description of the kind of problem, the same for every occurrence" }),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: "Human-readable description of this occurrence" }),
    instance: Type.String({ description: "The request's id; quote it when you report a problem" }),
    code: Type.String({ description: "Machine-readable kind of problem", examples: ["invalid-request"] }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description:
              "JSON Pointer to the invalid input, below `/query`, `/path`, `/headers` or `/body`; of a draft, into it",
            examples: ["/query/size"],
          }),
          detail: Type.String(),
          code: Type.Optional(Type.String({ description: "Of a problem of a draft: one of the codes of `check`" })),
        }),
      ),
    ),
  },
  { $id: "Problem", title: "Problem" },
);
export type ProblemDocument = Static<typeof problemDocument>;
