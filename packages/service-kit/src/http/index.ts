export { allowAnyone, forbidden, getCaller, limitCallers } from "./access.ts";
export { allowAnyOrigin } from "./any-origin.ts";
export { apiReference } from "./api-reference.ts";
export { decodeCursor, encodeCursor, invalidCursor } from "./cursor.ts";
export { escapeHtml, pageHeaders, renderPage } from "./html-page.ts";
export { etagPattern, isMatch, requireIfMatch } from "./if-match.ts";
export {
  acceptNdjson,
  importLines,
  importProblems,
  importResponse,
  type LineImport,
  mapInSlices,
  ndjsonMediaType,
  type StoredLine,
} from "./import-lines.ts";
export type { About } from "./index-routes.ts";
export { describeErrors, invalidInputs, invalidRequest } from "./invalid-request.ts";
export { isNestedTooDeep } from "./json-depth.ts";
export { acceptMergePatch, requireNoBody } from "./json-parser.ts";
export { createKeyedTaskLimiter } from "./keyed-task-limiter.ts";
export { listPage, listPageByName, type PageSlice } from "./list-page.ts";
export { allowListedOrigins } from "./listed-origins.ts";
export { withOptionalNulls } from "./optional-fields.ts";
export { createLineValidator } from "./parse-line.ts";
export { parseQueryTime, parseTime } from "./parse-time.ts";
export {
  type ErrorShape,
  errorResponses,
  Problem,
  type ProblemKind,
  problemResponses,
  problemShape,
  responseOf,
} from "./problem.ts";
export { createRateCounter, limitRate, networkOf, rateLimitProblem } from "./rate-limit.ts";
export { createReadinessCheck } from "./readiness-check.ts";
export { createRepresentation, type Representation, sendRepresentation } from "./representation.ts";
export { describeNul, disableCaching, findUnstorable } from "./request-guards.ts";
export { RequestSlots, type Slot } from "./request-slots.ts";
export { ResponseCache } from "./response-cache.ts";
export { serve } from "./serve.ts";
export { createServer, type ServerOptions } from "./server.ts";
export { standardProblems } from "./standard-problems.ts";
export { createStrictAjv } from "./strict-ajv.ts";
export { createTaskLimiter } from "./task-limiter.ts";
export { createBodyValidator } from "./validate-body.ts";
