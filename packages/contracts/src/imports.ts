import { type Static, Type } from "typebox";
import { nullable } from "./wire-types.ts";

/** Lines of one upload, blank and skipped ones included. */
export const maxImportLines = 1_000_000;
export const maxImportLineBytes = 65_536;

export const importQuery = Type.Object({
  fromLine: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxImportLines,
      default: 1,
      description:
        "The first line to import, counted from 1. Earlier lines are read and skipped. To resume an import, send the whole file again with the number of the last result plus 1",
    }),
  ),
});
export type ImportQuery = Static<typeof importQuery>;

/** The type of the body is checked line by line, so the schema of the route describes only the text. */
export const importBody = (fields: string) =>
  Type.String({
    maxLength: maxImportLineBytes,
    description: `One JSON object per line: ${fields}. A line has at most 64 KiB, an upload at most 1,000,000 lines and 1 GiB. Blank lines are skipped, but counted`,
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
    key: nullable(Type.String(), "Alias or slug; null if the line has none that can be read"),
    status: Type.Enum(importStatuses, { description: "What happened to the line. It is committed" }),
    secret: Type.Optional(
      Type.String({ description: "The generated secret of a new organisation. It can't be read later" }),
    ),
    problem: Type.Optional(importProblem),
  },
  { $id: "ImportResult", title: "ImportResult" },
);
export type ImportResult = Static<typeof importResult>;

export const importSummary = Type.Object(
  {
    lines: Type.Integer({ description: "The number of the last processed line, blank and skipped ones included" }),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    refused: Type.Integer(),
    problem: Type.Optional(
      Type.Object(
        { code: Type.String(), detail: Type.String() },
        { description: "Why the import ended before the last line; resume it with `fromLine` = `lines` + 1" },
      ),
    ),
  },
  { $id: "ImportSummary", title: "ImportSummary" },
);
export type ImportSummary = Static<typeof importSummary>;
