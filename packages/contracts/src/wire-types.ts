import { Type } from "typebox";

export const uuid = (description: string) => Type.String({ format: "uuid", description });
export const url = (description: string) => Type.String({ format: "uri", description });
export const optionalUrl = (description: string) =>
  Type.Union([Type.String({ format: "uri" }), Type.Null()], { description });
export const instant = (description: string) =>
  Type.String({
    format: "date-time",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
    description: `${description} (ISO 8601, UTC, milliseconds)`,
    examples: ["2026-03-18T09:30:00.000Z"],
  });
export const currency = Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217 code", examples: ["USD"] });
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** Whole minor units, or a decimal string where a rate lies below one minor unit. */
export const rate = Type.Union([
  Type.Integer({ minimum: 0 }),
  Type.String({ pattern: "^\\d+\\.\\d+$", examples: ["0.45"] }),
]);
