import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientState, newClient, reasons } from "./client.ts";
import { afterCheck, afterRegistration, afterRemoval, afterUpdate } from "./client-results.ts";
import { isUsable } from "./connection.ts";

const sha256 = "c".repeat(64);
const attemptedAt = new Date("2026-03-18T09:30:00.000Z");
const management = { uri: "https://id.example/register/one", token: "a-token" };
const registering: ClientState = { ...newClient("dcr"), attempt: "register", attemptedAt };
const registered: ClientState = {
  ...newClient("dcr"),
  status: "ready",
  clientId: "one",
  isManaged: true,
  registeredSha256: "d".repeat(64),
};
const updating: ClientState = { ...registered, attempt: "update", attemptedAt };
const removing: ClientState = { ...registered, status: "removing", attempt: "remove", attemptedAt };

test("a registered client is ready; without a way to manage it, it is the operators' from then on", () => {
  const { next, retriesSoon } = afterRegistration(
    registering,
    { kind: "registered", clientId: "one", management },
    sha256,
  );
  assert.deepEqual(next, { ...registered, registeredSha256: sha256 });
  assert.equal(retriesSoon, false);
  const unmanaged = afterRegistration(
    registering,
    { kind: "registered", clientId: "one", management: undefined },
    sha256,
  );
  assert.deepEqual(
    [unmanaged.next?.method, unmanaged.next?.isManaged, unmanaged.next?.status],
    ["manual", false, "ready"],
  );
});

test("one with other values than requested has failed and is to be removed, by an operator if this service can't", () => {
  const differs = { kind: "differs", clientId: "one", reason: "Other scopes." } as const;
  const { next } = afterRegistration(registering, { ...differs, management }, sha256);
  assert.deepEqual(
    [next?.status, next?.clientId, next?.isManaged, next?.reason],
    ["failed", "one", true, "Other scopes."],
  );
  const stuck = afterRegistration(registering, { ...differs, management: undefined }, sha256);
  assert.deepEqual([stuck.next?.status, stuck.next?.task], ["uncertain", "check"]);
  assert.match(stuck.next?.reason ?? "", /client_id is one/);
});

test("a refused registration has failed or is tried again, and leaves no attempt", () => {
  const final = afterRegistration(registering, { kind: "refused", reason: "Not allowed.", isFinal: true }, sha256);
  assert.deepEqual(
    [final.next?.status, final.next?.reason, final.next?.attempt, final.retriesSoon],
    ["failed", "Not allowed.", null, false],
  );
  const soon = afterRegistration(registering, { kind: "refused", reason: "ECONNREFUSED", isFinal: false }, sha256);
  assert.deepEqual(
    [soon.next?.status, soon.next?.reason, soon.next?.attempt, soon.retriesSoon],
    ["pending", reasons.unavailable, null, true],
  );
});

test("an unknown result of a registration is uncertain, with the attempt and its time", () => {
  const { next, retriesSoon } = afterRegistration(registering, { kind: "unknown", reason: "No response." }, sha256);
  assert.deepEqual(next, { ...registering, status: "uncertain", task: "check", reason: "No response." });
  assert.equal(retriesSoon, false);
});

test("a client stays ready, as it was, until its update succeeds", () => {
  const updated = afterUpdate(updating, { kind: "updated", management }, sha256);
  assert.deepEqual(updated.next, { ...registered, registeredSha256: sha256 });
  assert.deepEqual(updated.management, management, "the token may have been replaced");
  for (const [result, reason, retriesSoon] of [
    [{ kind: "refused", reason: "Not allowed.", isFinal: true }, "Not allowed.", false],
    [{ kind: "refused", reason: "ECONNREFUSED", isFinal: false }, null, true],
    [{ kind: "unknown", reason: "No response." }, null, true],
  ] as const) {
    const settled = afterUpdate(updating, result, sha256);
    assert.deepEqual(settled.next, { ...registered, reason }, result.kind);
    assert.equal(settled.retriesSoon, retriesSoon, result.kind);
  }
  const read = afterUpdate(updating, { kind: "unknown", reason: "No response.", management }, sha256);
  assert.deepEqual(read, { next: registered, management, retriesSoon: true }, "reading it may have replaced the token");
  const unusable = { ...updating, status: "pending", registeredSha256: null } as const;
  for (const result of [
    { kind: "refused", reason: "Not allowed.", isFinal: true },
    { kind: "unknown", reason: "No response." },
  ] as const) {
    assert.equal(afterUpdate(unusable, result, sha256).next?.status, "pending", "it was updated with other values");
  }
  assert.equal(afterUpdate(unusable, { kind: "updated", management }, sha256).next?.status, "ready");
  const denied = afterUpdate(updating, { kind: "denied", reason: "401" }, sha256);
  assert.deepEqual([denied.next?.status, denied.next?.clientId], ["uncertain", "one"]);
});

test("a client that was updated with other values is an operator's, and usable only if nothing but its scopes differs", () => {
  for (const isSafe of [true, false]) {
    const differs = { kind: "differs", management, reason: "Other values.", isSafe } as const;
    const settled = afterUpdate(updating, differs, sha256);
    const uncertain = { ...updating, status: "uncertain", task: "check", reason: "Other values." } as const;
    const next = isSafe ? uncertain : { ...uncertain, registeredSha256: null };
    assert.deepEqual(settled, { next, management, retriesSoon: false });
    assert.equal(isUsable(next), isSafe);
  }
});

test("a client that was read stays ready, unless the server denies it", () => {
  const found = afterCheck(updating, { kind: "found", management });
  assert.deepEqual(found, { next: registered, management, retriesSoon: false });
  for (const [result, retriesSoon] of [
    [{ kind: "refused", reason: "403", isFinal: true }, false],
    [{ kind: "refused", reason: "ECONNREFUSED", isFinal: false }, true],
    [{ kind: "unknown", reason: "No response." }, true],
  ] as const) {
    assert.deepEqual(afterCheck(updating, result), { next: registered, retriesSoon }, result.reason);
  }
  const denied = afterCheck(updating, { kind: "denied", reason: "401" });
  assert.deepEqual(denied.next, { ...updating, status: "uncertain", task: "check", reason: "401" });
});

test("a removed client is gone; one that the server denies only if an earlier removal may have succeeded", () => {
  assert.equal(afterRemoval(removing, { kind: "removed" }, false).next, undefined);
  const denied = { kind: "denied", reason: "401", isOfServer: true } as const;
  assert.equal(afterRemoval(removing, denied, true).next, undefined);
  assert.equal(afterRemoval(removing, denied, false).next?.status, "uncertain");
  const deniedByProxy = afterRemoval(removing, { ...denied, reason: "404", isOfServer: false }, true);
  assert.deepEqual(deniedByProxy, { next: { ...removing, attemptedAt: null }, retriesSoon: true });
  const unsupported = afterRemoval(removing, { kind: "refused", reason: "405", isFinal: true }, false);
  assert.equal(unsupported.next?.status, "uncertain");
});

test("a removal that isn't known to have succeeded is repeated, and remembered", () => {
  const unknown = afterRemoval(removing, { kind: "unknown", reason: "No response." }, false);
  assert.deepEqual(unknown, { next: { ...removing, attemptedAt: null }, retriesSoon: true });
  const unsent = afterRemoval(removing, { kind: "refused", reason: "ECONNREFUSED", isFinal: false }, false);
  assert.deepEqual(unsent.next, { ...registered, status: "removing" });
  const unsentAfterUnknown = afterRemoval(removing, { kind: "refused", reason: "ECONNREFUSED", isFinal: false }, true);
  assert.equal(unsentAfterUnknown.next?.attempt, "remove");
});

test("a client that was registered with other values stays failed once it is removed", () => {
  const failed: ClientState = { ...removing, status: "failed", registeredSha256: null, reason: "Other scopes." };
  const { next } = afterRemoval(failed, { kind: "removed" }, false);
  assert.deepEqual(next, { ...newClient("dcr"), status: "failed", reason: "Other scopes." });
});
