import type { onRequestHookHandler } from "fastify";
import { invalidRequest } from "./invalid-request.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** One entity tag: strong, or a weak one. */
export const etagPattern = '^(W/)?"[!#-~]*"$';
const etagRegExp = new RegExp(etagPattern);

/** Refuses a request without a well-formed `If-Match` before anything else of it is read, so that no one overwrites a change by accident. */
export const requireIfMatch: onRequestHookHandler = (request, _reply, next) => {
  const { "if-match": given } = request.headers;
  if (given === undefined) {
    const detail = `Send the ETag of what you read, as If-Match. GET ${request.url.split("?", 1)[0]} returns it.`;
    next(new Problem(standardProblems.preconditionRequired, detail));
  } else if (!etagRegExp.test(given)) {
    // Not 412: the client would read the same tag again, and send it as before.
    next(invalidRequest("/headers/if-match", "must be an ETag in double quotes, as the response had it"));
  } else {
    next();
  }
};

/** Whether `If-Match` names the tag. A proxy that compresses makes a tag a weak one. */
export function isMatch(ifMatch: string, etag: string): boolean {
  return ifMatch.replace(/^W\//, "") === etag;
}
