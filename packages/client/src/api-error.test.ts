import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toApiError } from "./api-error.ts";

const refused = (headers: Record<string, string> = {}): Response => new Response(null, { status: 422, headers });

describe("an error of an API", () => {
  test("is read from a problem document", () => {
    const body = {
      type: "/problems/baa-required",
      title: "The agreement isn't accepted",
      status: 422,
      detail: "This app needs one.",
      instance: "request-1",
      code: "baa-required",
      errors: [{ pointer: "/body/acceptBaa", detail: "must be true" }],
    };
    const error = toApiError(refused(), body);
    const { status, code, title, message, requestId, errors } = error;
    assert.deepEqual(
      { status, code, title, message, requestId, errors },
      {
        status: 422,
        code: "baa-required",
        title: "The agreement isn't accepted",
        message: "This app needs one.",
        requestId: "request-1",
        errors: [{ pointer: "/body/acceptBaa", detail: "must be true" }],
      },
    );
  });

  test("is read from the EHR's envelope, with the request's id of the header", () => {
    const error = toApiError(refused({ "x-request-id": "request-2" }), {
      success: false,
      message: "Unknown.",
      data: null,
    });
    assert.deepEqual([error.message, error.requestId, error.code], ["Unknown.", "request-2", undefined]);
  });

  for (const body of [undefined, null, "", "<html>", 7, [], { errors: ["no object"] }]) {
    test(`has its status whatever the body is: ${JSON.stringify(body)}`, () => {
      assert.equal(toApiError(refused(), body).status, 422);
    });
  }
});
