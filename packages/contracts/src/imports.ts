import { type Static, Type } from "typebox";

/** Of one request, blank lines included. */
export const maxImportLines = 1_000;
export const maxImportBytes = 1_048_576;
/** As the body of the `PUT` that a line stands for. */
export const maxImportLineBytes = 16_384;

/** The type of the body is checked line by line, so the schema of the route describes only the text. */
export const importBody = (fields: string) =>
  Type.String({
    minLength: 1,
    maxLength: maxImportBytes,
    description: `One JSON object per line: ${fields}. At most 1,000 lines, 1 MiB, and 16 KiB a line. Blank lines are skipped, but counted`,
  });

const importProblem = Type.Object(
  {
    code: Type.String({ description: "As in a problem response" }),
    detail: Type.String(),
    pointer: Type.Optional(Type.String({ description: "JSON Pointer of the first invalid value of the line" })),
  },
  { description: "Why the line was refused" },
);
export type ImportProblem = Static<typeof importProblem>;

const importStatuses = ["created", "updated", "unchanged", "refused"] as const;

export const importResult = Type.Object(
  {
    line: Type.Integer({ description: "The line's number, counted from 1" }),
    alias: Type.Optional(
      Type.String({ description: "Of an organisation. Absent if the line has none that can be read" }),
    ),
    slug: Type.Optional(Type.String({ description: "Of a vendor. Absent if the line has none that can be read" })),
    status: Type.Enum(importStatuses, { description: "What happened to the line" }),
    secret: Type.Optional(
      Type.String({ description: "The generated secret of a new organisation. It can't be read later" }),
    ),
    problem: Type.Optional(importProblem),
  },
  { $id: "ImportResult", title: "ImportResult" },
);
export type ImportResult = Static<typeof importResult>;
