import assert from "node:assert/strict";
import { test } from "node:test";
import { putAttentionFirst } from "./put-attention-first.ts";

test("apps that can't sign in, ask for more access or are paused come first, each group in its order", () => {
  const app = (id: string, changes: { status?: "paused"; pendingScopes?: string } = {}) => ({
    id,
    status: "active" as const,
    pendingScopes: "",
    ...changes,
  });
  const asks = app("asks", { pendingScopes: "patient/Observation.rs" });
  const live = [app("first"), asks, app("second"), app("paused", { status: "paused" }), app("failed"), app("last")];
  assert.deepEqual(
    putAttentionFirst(live, new Set(["failed"])).map(({ id }) => id),
    ["asks", "paused", "failed", "first", "second", "last"],
  );
});
