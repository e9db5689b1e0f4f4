import type { FastifyInstance, preValidationHookHandler } from "fastify";
import { invalidRequest } from "./invalid-request.ts";
import { nestsTooDeep, tooDeep } from "./json-depth.ts";

/** Many clients announce JSON with whatever they post: where nothing follows, there is no body, and that is all. */
export function readJson(server: FastifyInstance): void {
  server.removeContentTypeParser("text/plain");
  const parse = server.getDefaultJsonParser("error", "error");
  server.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    const text = body as string;
    if (text === "") done(null, undefined);
    else if (nestsTooDeep(text)) done(invalidRequest("/body", tooDeep));
    else void parse(request, text, done);
  });
}

/** For a route that reads no body: what somebody sends all the same was meant for something, and isn't ignored. */
export const takesNoBody: preValidationHookHandler = (request, _reply, next) => {
  const { body } = request;
  const empty = body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0);
  next(empty ? undefined : invalidRequest("/body", "must be left out: nothing of it is read here"));
};
