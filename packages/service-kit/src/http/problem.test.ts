import assert from "node:assert/strict";
import { test } from "node:test";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import { Problem, problemResponses } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

test("the API reference describes every status of the contract", () => {
  const known = [400, 401, 403, 404, 405, 408, 409, 410, 413, 414, 415, 422, 429, 431, 500, 503];
  const described: Record<string, { description?: string }> = problemResponses(...known);
  for (const status of known) assert.match(String(described[status]?.description), /^[A-Z].{5,}/, String(status));
});

test("a problem contains the path of its documentation and the request id", () => {
  const document = new Problem(standardProblems.notFound, "It isn't here.").toDocument("request-1");
  assertShape("Problem", document);
  assert.deepEqual(document, {
    type: "/problems/not-found",
    title: "Not found",
    status: 404,
    detail: "It isn't here.",
    instance: "request-1",
    code: "not-found",
  });
});

test("a problem doesn't reveal its cause", () => {
  const cause = new Error("select * from patients");
  const document = new Problem(standardProblems.internalError, "Something went wrong.", { cause }).toDocument("1");
  assert.doesNotMatch(JSON.stringify(document), /patients|cause|stack/);
});
