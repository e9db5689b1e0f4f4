import { type InvalidInput, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** Each of them: where it is, and what is wrong with it. */
export function invalidInputs(errors: InvalidInput[]): Problem {
  const detail = errors.map((each) => `${each.pointer} ${each.detail}`).join("; ");
  return new Problem(standardProblems.invalidRequest, `${detail}.`, { errors });
}

/** What a schema can't say about a value. */
export function invalidRequest(pointer: string, detail: string): Problem {
  return invalidInputs([{ pointer, detail }]);
}
