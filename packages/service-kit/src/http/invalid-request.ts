import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** What a schema can't say about a value: where it is, and what is wrong with it. */
export function invalidRequest(pointer: string, detail: string): Problem {
  return new Problem(standardProblems.invalidRequest, `${pointer} ${detail}.`, { errors: [{ pointer, detail }] });
}
