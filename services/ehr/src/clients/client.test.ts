import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attemptLeaseMs, type ClientFacts, type ClientState, newClient, nextStep, reasons } from "./client.ts";

const now = new Date("2026-03-18T09:30:00.000Z");
const recently = new Date(now.getTime() - attemptLeaseMs + 1);
const longAgo = new Date(now.getTime() - attemptLeaseMs);
const [oldSha, newSha] = ["a".repeat(64), "b".repeat(64)];
const documentUrl = "https://marketplace.example/api/v1/apps/an-app/client";

/** The states that the check constraints of the table accept, with every combination of what decides. */
function* allStates(): Generator<ClientState> {
  for (const method of ["cimd", "dcr", "manual"] as const)
    for (const status of ["pending", "ready", "failed", "uncertain", "removing"] as const)
      for (const clientId of [null, "a-client"])
        for (const isManaged of [false, true])
          for (const registeredSha256 of [null, oldSha, newSha])
            for (const attempt of [null, "register", "update", "remove"] as const)
              for (const attemptedAt of [null, recently, longAgo]) {
                const reason = status === "failed" || status === "uncertain" ? "A reason." : null;
                const task = status === "uncertain" ? "check" : null;
                const state = {
                  method,
                  status,
                  task,
                  clientId,
                  isManaged,
                  registeredSha256,
                  attempt,
                  attemptedAt,
                  reason,
                } as const;
                if (findViolation(state) === undefined) yield state;
              }
}

/** Mirrors the table's constraints, and what the attempts mean. */
function findViolation(state: ClientState): string | undefined {
  const { method, status, task, clientId, isManaged, registeredSha256, attempt, attemptedAt, reason } = state;
  if (isManaged && (method !== "dcr" || clientId === null)) return "managed";
  if (status === "ready" && (clientId === null || registeredSha256 === null)) return "ready";
  if (status === "failed" && reason === null) return "failed";
  if ((status === "uncertain") !== (task === "check")) return "task";
  if (status === "uncertain" && (attempt === null || attemptedAt === null || reason === null)) return "uncertain";
  if (attemptedAt !== null && attempt === null) return "attempted";
  if (attempt !== null && method !== "dcr") return "attempt's method";
  // What follows from the steps, and isn't a constraint.
  if (attempt === "register" && clientId !== null) return "registers once";
  if ((attempt === "update" || attempt === "remove") && !isManaged) return "updates what is managed";
  if (attempt !== null && attempt !== "remove" && attemptedAt === null) return "only removals are unknown";
  if (method === "dcr" && clientId !== null && !isManaged) return "unmanaged is manual";
  if (clientId === null && registeredSha256 !== null) return "nothing is registered";
  if (clientId !== null && status === "pending" && (!isManaged || registeredSha256 !== null)) {
    return "registered is pending only after an update with other values";
  }
  if (clientId === null && status === "removing") return "nothing to remove";
  if (clientId !== null && status === "failed" && !isManaged) return "failed has no client";
  if (status === "removing" && registeredSha256 === null && !isManaged) return "operators register what is requested";
  if (attempt === "remove" && status === "pending") return "removed is removing";
  return undefined;
}

function* allFacts(): Generator<ClientFacts> {
  for (const isNeeded of [true, false])
    for (const configured of ["cimd", "dcr", "manual"] as const)
      for (const metadata of [
        { kind: "found", sha256: newSha, clientId: documentUrl },
        { kind: "absent" },
        { kind: "refused", reason: "No public host" },
        { kind: "suspended" },
      ] as const)
        for (const signsIn of [true, false])
          for (const isSandbox of [true, false])
            for (const [isToCheck, isElsewhere] of [
              [false, false],
              [true, false],
              [true, true],
            ] as const) {
              const known = { isNeeded, configured, metadata: isNeeded ? metadata : undefined, signsIn, isSandbox };
              yield { ...known, isReplaced: isNeeded ? false : isSandbox, isToCheck, isElsewhere, now };
            }
}

const cases = [...allStates()].flatMap((client) => [...allFacts()].map((facts) => ({ client, facts })));
const describeCase = (given: unknown): string => JSON.stringify(given);

describe("the next step of a client, in each state and with all facts", () => {
  test("there are thousands of cases", () => assert.ok(cases.length > 2_000, String(cases.length)));

  test("stores only states that the table accepts", () => {
    for (const each of cases) {
      const step = nextStep(each.client, each.facts);
      if ("next" in step) assert.equal(findViolation(step.next), undefined, describeCase({ ...each, step }));
    }
  });

  test("registers only where no client is, or may be", () => {
    for (const each of cases) {
      const step = nextStep(each.client, each.facts);
      if (step.kind !== "request" || step.attempt !== "register") continue;
      const { client, facts } = each;
      assert.ok(client.clientId === null || client.method === "cimd", describeCase(each));
      assert.ok(client.attempt === null && client.status !== "uncertain", describeCase(each));
      assert.ok(facts.isNeeded && facts.configured === "dcr" && facts.metadata?.kind === "found", describeCase(each));
    }
  });

  test("forgets a client only if the authorization server has none", () => {
    for (const each of cases) {
      if (nextStep(each.client, each.facts).kind !== "delete") continue;
      const { client, facts } = each;
      assert.ok(client.clientId === null || client.method === "cimd", describeCase(each));
      assert.ok(client.attempt === null && client.status !== "uncertain", describeCase(each));
      assert.ok(!facts.isNeeded || (facts.metadata?.kind === "absent" && !facts.signsIn), describeCase(each));
    }
  });

  test("leaves an uncertain client to an operator, and one in progress to its process", () => {
    for (const each of cases) {
      const { client, facts } = each;
      const { kind } = nextStep(client, facts);
      if (client.status === "uncertain") assert.equal(kind, "none", describeCase(each));
      else if (client.attemptedAt === recently) assert.equal(kind, "wait", describeCase(each));
      else assert.notEqual(kind, "wait", describeCase(each));
    }
  });

  test("makes an interrupted registration uncertain, and repeats other interrupted requests", () => {
    for (const each of cases) {
      const { client, facts } = each;
      if (client.status === "uncertain" || client.attempt === null || client.attemptedAt === recently) continue;
      const step = nextStep(client, facts);
      if (client.attempt === "register") {
        assert.ok(
          step.kind === "store" && step.next.status === "uncertain" && step.next.reason === reasons.interrupted,
        );
        assert.equal(step.next.attemptedAt, client.attemptedAt, "the operator is told the time");
      }
      if (client.attempt === "remove") {
        assert.ok(step.kind === "request" && step.attempt === "remove" && step.mayBeGone, describeCase(each));
      }
    }
  });

  test("removes what this service registered, and makes the rest a task, once no organisation has the app", () => {
    for (const each of cases) {
      const { client, facts } = each;
      if (facts.isNeeded || client.clientId === null || client.attempt !== null || client.status === "failed") continue;
      const step = nextStep(client, facts);
      if (client.method === "cimd") assert.equal(step.kind, "delete", describeCase(each));
      else if (client.isManaged) assert.ok(step.kind === "request" && step.attempt === "remove" && !step.mayBeGone);
      else {
        assert.ok(step.kind === "store" && step.next.status === "removing" && step.next.task === "remove");
        assert.equal(step.next.reason, facts.isReplaced ? reasons.toReplace : reasons.toRemove);
      }
    }
  });

  test("removes what is registered, or makes that a task, once the vendor doesn't say how the app signs in", () => {
    for (const each of cases) {
      const { client, facts } = each;
      const isRegistered = client.registeredSha256 !== null && client.method !== "cimd" && client.attempt === null;
      const isLeft = isRegistered && !["failed", "uncertain"].includes(client.status) && !facts.isToCheck;
      if (!facts.isNeeded || facts.metadata?.kind !== "absent" || facts.isSandbox || !isLeft) continue;
      const step = nextStep(client, facts);
      if (client.isManaged) assert.ok(step.kind === "request" && step.attempt === "remove", describeCase(each));
      else if (step.kind !== "none")
        assert.ok(step.kind === "store" && step.next.task === "remove", describeCase(each));
    }
  });

  test("keeps what is registered while the marketplace doesn't say how the app signs in for now", () => {
    for (const each of cases) {
      const { client, facts } = each;
      const isRegistered = client.registeredSha256 !== null && client.method !== "cimd" && client.attempt === null;
      const isSaid = facts.metadata?.kind === "found" || facts.metadata?.kind === "absent";
      if (!facts.isNeeded || isSaid || !isRegistered || client.status === "failed") continue;
      const step = nextStep(client, facts);
      const next = "next" in step ? step.next : client;
      assert.equal(next.clientId, client.clientId, describeCase(each));
      assert.ok(next.status === "ready" || next.status === "uncertain", describeCase({ ...each, step }));
    }
  });

  test("checks what it registered if an operator asks for it, and leaves to the operator what is at another server", () => {
    for (const each of cases) {
      const { client, facts } = each;
      const step = nextStep(client, facts);
      const isChecked = step.kind === "request" && step.attempt === "check";
      if (isChecked) {
        assert.ok(facts.isToCheck && !facts.isElsewhere && client.isManaged && facts.isNeeded, describeCase(each));
        assert.deepEqual(step.next, { ...client, attempt: "update", attemptedAt: now }, describeCase(each));
      }
      const isReady = client.status === "ready" && client.isManaged && client.attemptedAt !== recently;
      if (!isReady || client.attempt !== null || !facts.isNeeded || !facts.isToCheck) continue;
      // The reason is stored first.
      if (step.kind === "store" && facts.metadata?.kind === "refused" && !facts.isElsewhere) continue;
      if (!facts.isElsewhere) assert.equal(step.kind, "request", describeCase(each));
      else assert.ok(step.kind === "store" && step.next.status === "uncertain" && step.next.attempt === "update");
    }
  });

  test("ends: a stored state leads to another step or to none, never around", () => {
    for (const each of cases) {
      let client = each.client;
      let steps = 0;
      for (; steps < 4; steps += 1) {
        const step = nextStep(client, each.facts);
        if (step.kind !== "store") break;
        client = step.next;
      }
      assert.ok(steps < 3, describeCase({ ...each, client }));
    }
  });

  test("an app's client is ready with the marketplace's document, waits for an operator, or is registered", () => {
    const facts = {
      isNeeded: true,
      metadata: { kind: "found", sha256: newSha, clientId: documentUrl },
      signsIn: true,
      isSandbox: false,
      isReplaced: false,
      isToCheck: false,
      isElsewhere: false,
      now,
    } as const;
    const after = (configured: ClientFacts["configured"], changes: Partial<ClientFacts> = {}) =>
      nextStep(newClient(configured), { ...facts, configured, ...changes });
    const documented = after("cimd");
    assert.ok(documented.kind === "store");
    assert.deepEqual([documented.next.status, documented.next.clientId], ["ready", documentUrl]);
    const sandbox = after("cimd", { isSandbox: true });
    assert.ok(
      sandbox.kind === "store" && sandbox.next.status === "failed" && sandbox.next.reason === reasons.notPublic,
    );
    const manual = after("manual");
    assert.ok(manual.kind === "store" && manual.next.status === "pending" && manual.next.task === "register");
    const registered = after("dcr");
    assert.ok(
      registered.kind === "request" && registered.attempt === "register" && registered.next.attemptedAt === now,
    );
    const unsaid = after("dcr", { metadata: { kind: "absent" } });
    assert.ok(unsaid.kind === "store" && unsaid.next.status === "failed" && unsaid.next.reason === reasons.notSaid);
    assert.equal(after("dcr", { metadata: { kind: "absent" }, signsIn: false }).kind, "delete");
    const suspended = after("dcr", { metadata: { kind: "suspended" } });
    assert.ok(suspended.kind === "store" && suspended.next.status === "pending");
  });

  test("a changed document updates what this service registered, and is a task for what an operator did", () => {
    const facts: ClientFacts = {
      isNeeded: true,
      configured: "dcr",
      metadata: { kind: "found", sha256: newSha, clientId: documentUrl },
      signsIn: true,
      isSandbox: false,
      isReplaced: false,
      isToCheck: false,
      isElsewhere: false,
      now,
    };
    const ready: ClientState = { ...newClient("dcr"), status: "ready", clientId: "one", registeredSha256: oldSha };
    const managed = nextStep({ ...ready, isManaged: true }, facts);
    assert.ok(managed.kind === "request" && managed.attempt === "update" && managed.next.status === "ready");
    const manual = nextStep({ ...ready, method: "manual" }, facts);
    assert.ok(manual.kind === "store" && manual.next.status === "ready" && manual.next.task === "update");
    const again = nextStep({ ...ready, isManaged: true, status: "removing", registeredSha256: newSha }, facts);
    assert.ok(again.kind === "store" && again.next.status === "ready", "installed again before it was removed");
  });
});
