import { type Static, Type } from "typebox";

export const uuid = (description: string) => Type.String({ format: "uuid", maxLength: 36, description });
/**
 * URLs of apps and vendors are opened in browsers: https only, or http on a loopback address for the local stack. Both databases
 * enforce the same rule with a check constraint.
 */
export const webUrlPattern =
  "^(https://[^\\s/]\\S*|http://(localhost|127([.]\\d{1,3}){3}|\\[::1\\])(:\\d{1,5})?(/\\S*)?)$";
const webUrl = { format: "uri", pattern: webUrlPattern, maxLength: 2048 };
export const url = (description: string) => Type.String({ ...webUrl, description });
export const optionalUrl = (description: string) =>
  Type.Union([Type.String({ ...webUrl }), Type.Null()], { description });
export const instant = (description: string) =>
  Type.String({
    format: "date-time",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
    description: `${description} (ISO 8601, UTC, milliseconds)`,
    examples: ["2026-03-18T09:30:00.000Z"],
  });
/** A time in a request. The format alone would allow any number of decimals, so the length is limited. */
export const requestTime = (description: string) => Type.String({ format: "date-time", maxLength: 40, description });
export const currency = Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217 code", examples: ["USD"] });
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** Of a request that was done. Stays absent where nothing is wrong, as most clients know the response without it. */
export const warnings = Type.Optional(
  Type.Array(
    Type.Object({
      pointer: Type.String({ description: "JSON Pointer to the input", examples: ["/body/url"] }),
      detail: Type.String({ description: "What is probably wrong, and what to do" }),
    }),
    {
      description:
        "Only in the response to a request that was done although something in it is probably wrong, such as a host name that doesn't resolve",
    },
  ),
);
export interface Warnings {
  warnings?: Static<typeof warnings>;
}

/** Whole minor units, or a decimal string for fractions of a minor unit. */
export const rate = Type.Union([
  Type.Integer({ minimum: 0 }),
  Type.String({
    pattern: "^\\d+\\.\\d+$",
    "x-error-message": 'must be a decimal number as a string, such as "0.45"',
    examples: ["0.45"],
  }),
]);
