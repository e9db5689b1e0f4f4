import { type InvalidInput, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** A 400 that lists all invalid inputs, each with its JSON pointer. */
export function invalidInputs(errors: InvalidInput[]): Problem {
  const detail = errors.map((each) => `${each.pointer} ${each.detail}`).join("; ");
  return new Problem(standardProblems.invalidRequest, `${detail}.`, { errors });
}

/** A 400 for one input, for rules that a schema can't express. */
export function invalidRequest(pointer: string, detail: string): Problem {
  return invalidInputs([{ pointer, detail }]);
}
