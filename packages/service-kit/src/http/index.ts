export { AnswerCache } from "./answer-cache.ts";
export { allowAnyOrigin } from "./any-origin.ts";
export { apiReference } from "./api-reference.ts";
export { Problem, type ProblemKind, problemResponses } from "./problem.ts";
export { limitRate } from "./rate-limit.ts";
export { type Representation, representationOf, sendRepresentation } from "./representation.ts";
export { serve } from "./serve.ts";
export { createServer, type ServerOptions } from "./server.ts";
export { standardProblems } from "./standard-problems.ts";
