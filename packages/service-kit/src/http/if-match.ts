import type { onRequestHookHandler } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** Refuses a request without `If-Match` before anything else of it is read, so that no one overwrites a change by accident. */
export const requireIfMatch: onRequestHookHandler = (request, _reply, next) => {
  if (request.headers["if-match"] !== undefined) {
    next();
  } else {
    const detail = `Send the ETag of what you read, as If-Match. GET ${request.routeOptions.url} returns it.`;
    next(new Problem(standardProblems.preconditionRequired, detail));
  }
};

/** Whether `If-Match` names the tag. A proxy that compresses makes a tag a weak one. */
export function isMatch(ifMatch: string, etag: string): boolean {
  return ifMatch.replace(/^W\//, "") === etag;
}
