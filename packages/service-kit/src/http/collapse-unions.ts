import type { FastifySchemaValidationError } from "fastify";
import { describeValidationError, noAlternative } from "./describe-validation-error.ts";

const isAt = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`);

const isWithin = (error: FastifySchemaValidationError, union: FastifySchemaValidationError): boolean =>
  error.schemaPath.startsWith(`${union.schemaPath}/`) && isAt(error.instancePath, union.instancePath);

/** Violated where the value isn't of the alternative at all. Other rules are only violated by a value of the right type. */
const typeKeywords = new Set(["type", "const", "enum", "anyOf"]);

/**
 * Replaces the errors of a union (`anyOf`), of which Ajv reports one for each alternative, by those of the alternative that was meant, or
 * by one error that lists the alternatives.
 */
export function collapseUnions(errors: FastifySchemaValidationError[]): FastifySchemaValidationError[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf");
  if (unions.length === 0) return errors;
  const outermost = unions.filter((union) => !unions.some((other) => isWithin(union, other)));
  const replaced = new Map(
    outermost.map(
      (union) =>
        [
          union,
          replaceUnion(
            union,
            errors.filter((error) => isWithin(error, union)),
          ),
        ] as const,
    ),
  );
  return errors.flatMap((error) => {
    if (outermost.some((union) => isWithin(error, union))) return [];
    return replaced.get(error) ?? [error];
  });
}

function replaceUnion(
  union: FastifySchemaValidationError,
  inner: FastifySchemaValidationError[],
): FastifySchemaValidationError[] {
  const meant = inner.filter(
    ({ keyword, instancePath }) => instancePath !== union.instancePath || !typeKeywords.has(keyword),
  );
  if (meant.length > 0) return meant;
  const details = inner.filter(({ keyword }) => keyword !== "anyOf").map(describeValidationError);
  const [first, ...others] = new Set(details);
  if (first === undefined) return [{ ...union, message: noAlternative }];
  const message = [first, ...others.map((detail) => detail.replace(/^must be /, ""))].join(", or ");
  return [{ ...union, message }];
}
