import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type BlockReason,
  type Command,
  decide,
  type PauseReason,
  rolesForCommand,
  rolesForCommandInState,
  type State,
} from "./subscription.ts";

const reasons: PauseReason[] = ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY", "ORG_REQUEST"];
const blocks: BlockReason[] = ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY"];

const states: State[] = [
  { status: "active" },
  ...reasons.map((reason): State => ({ status: "paused", reason })),
  { status: "paused", reason: "SECURITY", bySuspension: true },
  { status: "cancelled", block: null },
  ...blocks.map((block): State => ({ status: "cancelled", block })),
];
const commands: Command[] = [
  { do: "cancel" },
  ...reasons.map((reason): Command => ({ do: "pause", reason })),
  { do: "resume" },
  { do: "lift-block" },
];

const named = (status: string, why: string | null): string => (why === null ? status : `${status} ${why}`);
function nameOf(state: State): string {
  switch (state.status) {
    case "active":
      return "active";
    case "paused":
      return named(state.bySuspension ? "suspended" : "paused", state.reason);
    case "cancelled":
      return named("cancelled", state.block);
  }
}
const commandName = (command: Command): string => named(command.do, command.do === "pause" ? command.reason : null);

function whatHappens(state: State, command: Command): string {
  const decision = decide(state, command);
  switch (decision.outcome) {
    case "changed":
      return `${nameOf(decision.state)}, ${decision.event ?? "no event"}`;
    case "unchanged":
      return "unchanged";
    case "refused":
      return `refused: ${decision.because}`;
  }
}

// State | command | result | roles
const wholeLife = `
active                  | cancel              | cancelled, subscription.cancelled               | org-admin operator
active                  | pause NON_PAYMENT   | paused NON_PAYMENT, subscription.paused         | billing operator
active                  | pause OPERATOR_HOLD | paused OPERATOR_HOLD, subscription.paused       | operator
active                  | pause SECURITY      | paused SECURITY, subscription.paused            | operator
active                  | pause ORG_REQUEST   | paused ORG_REQUEST, subscription.paused         | operator org-admin
active                  | resume              | unchanged                                       | billing operator org-admin
active                  | lift-block          | refused: not-cancelled                          | billing operator
paused NON_PAYMENT      | cancel              | cancelled NON_PAYMENT, subscription.cancelled   | operator org-admin
paused NON_PAYMENT      | pause NON_PAYMENT   | unchanged                                       | billing operator
paused NON_PAYMENT      | pause OPERATOR_HOLD | refused: paused-for-another-reason              | operator
paused NON_PAYMENT      | pause SECURITY      | refused: paused-for-another-reason              | operator
paused NON_PAYMENT      | pause ORG_REQUEST   | refused: paused-for-another-reason              | operator org-admin
paused NON_PAYMENT      | resume              | active, subscription.resumed                    | billing operator
paused NON_PAYMENT      | lift-block          | refused: not-cancelled                          | billing operator
paused OPERATOR_HOLD    | cancel              | cancelled OPERATOR_HOLD, subscription.cancelled | operator org-admin
paused OPERATOR_HOLD    | pause NON_PAYMENT   | refused: paused-for-another-reason              | billing operator
paused OPERATOR_HOLD    | pause OPERATOR_HOLD | unchanged                                       | operator
paused OPERATOR_HOLD    | pause SECURITY      | refused: paused-for-another-reason              | operator
paused OPERATOR_HOLD    | pause ORG_REQUEST   | refused: paused-for-another-reason              | operator org-admin
paused OPERATOR_HOLD    | resume              | active, subscription.resumed                    | operator
paused OPERATOR_HOLD    | lift-block          | refused: not-cancelled                          | billing operator
paused SECURITY         | cancel              | cancelled SECURITY, subscription.cancelled      | operator org-admin
paused SECURITY         | pause NON_PAYMENT   | refused: paused-for-another-reason              | billing operator
paused SECURITY         | pause OPERATOR_HOLD | refused: paused-for-another-reason              | operator
paused SECURITY         | pause SECURITY      | unchanged                                       | operator
paused SECURITY         | pause ORG_REQUEST   | refused: paused-for-another-reason              | operator org-admin
paused SECURITY         | resume              | active, subscription.resumed                    | operator
paused SECURITY         | lift-block          | refused: not-cancelled                          | billing operator
suspended SECURITY      | cancel              | cancelled SECURITY, subscription.cancelled      | operator org-admin
suspended SECURITY      | pause NON_PAYMENT   | refused: paused-for-another-reason              | billing operator
suspended SECURITY      | pause OPERATOR_HOLD | refused: paused-for-another-reason              | operator
suspended SECURITY      | pause SECURITY      | paused SECURITY, no event                       | operator
suspended SECURITY      | pause ORG_REQUEST   | refused: paused-for-another-reason              | operator org-admin
suspended SECURITY      | resume              | active, subscription.resumed                    | operator
suspended SECURITY      | lift-block          | refused: not-cancelled                          | billing operator
paused ORG_REQUEST      | cancel              | cancelled, subscription.cancelled               | operator org-admin
paused ORG_REQUEST      | pause NON_PAYMENT   | refused: paused-for-another-reason              | billing operator
paused ORG_REQUEST      | pause OPERATOR_HOLD | refused: paused-for-another-reason              | operator
paused ORG_REQUEST      | pause SECURITY      | refused: paused-for-another-reason              | operator
paused ORG_REQUEST      | pause ORG_REQUEST   | unchanged                                       | operator org-admin
paused ORG_REQUEST      | resume              | active, subscription.resumed                    | operator org-admin
paused ORG_REQUEST      | lift-block          | refused: not-cancelled                          | billing operator
cancelled               | cancel              | unchanged                                       | operator org-admin
cancelled               | pause NON_PAYMENT   | refused: cancelled                              | billing operator
cancelled               | pause OPERATOR_HOLD | refused: cancelled                              | operator
cancelled               | pause SECURITY      | refused: cancelled                              | operator
cancelled               | pause ORG_REQUEST   | refused: cancelled                              | operator org-admin
cancelled               | resume              | refused: cancelled                              | billing operator org-admin
cancelled               | lift-block          | unchanged                                       | billing operator
cancelled NON_PAYMENT   | cancel              | unchanged                                       | operator org-admin
cancelled NON_PAYMENT   | pause NON_PAYMENT   | refused: cancelled                              | billing operator
cancelled NON_PAYMENT   | pause OPERATOR_HOLD | refused: cancelled                              | operator
cancelled NON_PAYMENT   | pause SECURITY      | refused: cancelled                              | operator
cancelled NON_PAYMENT   | pause ORG_REQUEST   | refused: cancelled                              | operator org-admin
cancelled NON_PAYMENT   | resume              | refused: cancelled                              | billing operator org-admin
cancelled NON_PAYMENT   | lift-block          | cancelled, no event                             | billing operator
cancelled OPERATOR_HOLD | cancel              | unchanged                                       | operator org-admin
cancelled OPERATOR_HOLD | pause NON_PAYMENT   | refused: cancelled                              | billing operator
cancelled OPERATOR_HOLD | pause OPERATOR_HOLD | refused: cancelled                              | operator
cancelled OPERATOR_HOLD | pause SECURITY      | refused: cancelled                              | operator
cancelled OPERATOR_HOLD | pause ORG_REQUEST   | refused: cancelled                              | operator org-admin
cancelled OPERATOR_HOLD | resume              | refused: cancelled                              | billing operator org-admin
cancelled OPERATOR_HOLD | lift-block          | cancelled, no event                             | operator
cancelled SECURITY      | cancel              | unchanged                                       | operator org-admin
cancelled SECURITY      | pause NON_PAYMENT   | refused: cancelled                              | billing operator
cancelled SECURITY      | pause OPERATOR_HOLD | refused: cancelled                              | operator
cancelled SECURITY      | pause SECURITY      | refused: cancelled                              | operator
cancelled SECURITY      | pause ORG_REQUEST   | refused: cancelled                              | operator org-admin
cancelled SECURITY      | resume              | refused: cancelled                              | billing operator org-admin
cancelled SECURITY      | lift-block          | cancelled, no event                             | operator
`
  .trim()
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()));

describe("state machine of a subscription", () => {
  const rowFor = (state: State, command: Command): string[][] =>
    wholeLife.filter(([from, given]) => from === nameOf(state) && given === commandName(command));

  test("the table has every command in every state, once", () => {
    const cells = states.flatMap((state) => commands.map((command) => [state, command] as const));
    assert.equal(cells.length, 70);
    assert.equal(wholeLife.length, cells.length);
    for (const [state, command] of cells) {
      assert.equal(rowFor(state, command).length, 1, `${nameOf(state)} | ${commandName(command)}`);
    }
  });

  for (const state of states) {
    for (const command of commands) {
      const [, , outcome, who = ""] = rowFor(state, command)[0] ?? [];
      test(`${nameOf(state)}: ${commandName(command)} by ${who}: ${outcome}`, () => {
        assert.equal(whatHappens(state, command), outcome);
        assert.deepEqual([...rolesForCommandInState(state, command)].toSorted(), who.split(" ").toSorted());
      });
    }
  }

  for (const command of commands) {
    test(`${commandName(command)}: rolesForCommand has the roles that may give it in some state`, () => {
      const some = new Set(states.flatMap((state) => rolesForCommandInState(state, command)));
      assert.deepEqual(new Set(rolesForCommand(command)), some);
    });
  }

  test("decide() doesn't mutate the given state", () => {
    for (const state of states) {
      const before = structuredClone(state);
      for (const command of commands) decide(Object.freeze(state), command);
      assert.deepEqual(state, before);
    }
  });
});
