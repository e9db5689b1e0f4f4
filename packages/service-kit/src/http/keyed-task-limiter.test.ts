import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeyedTaskLimiter } from "./keyed-task-limiter.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

test("limits the tasks of each key and of all, and forgets keys that have none", async () => {
  const createProblem = (): Problem => new Problem(standardProblems.rateLimited, "Too many.");
  const limiter = createKeyedTaskLimiter({ maxRunning: 2, maxWaiting: 1, maxTotal: 5, createProblem });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const running: string[] = [];
  const run = (key: string): Promise<void> =>
    limiter.run(key, () => {
      running.push(key);
      return ended;
    });
  const isRefused = (status: number) => (error: unknown) => error instanceof Problem && error.kind.status === status;

  const all = [run("one"), run("one"), run("one")];
  assert.deepEqual(running, ["one", "one"]);
  await assert.rejects(run("one"), isRefused(429));
  all.push(run("other"), run("other"));
  assert.deepEqual(running, ["one", "one", "other", "other"]);
  await assert.rejects(run("third"), isRefused(503));
  assert.equal(limiter.size(), 2);

  end();
  await Promise.all(all);
  assert.equal(running.length, 5);
  assert.equal(limiter.size(), 0);
  await assert.rejects(
    limiter.run("third", () => Promise.reject(new Error("failed"))),
    /failed/,
  );
  assert.equal(limiter.size(), 0);
});

test("forgets a task whose signal aborts while it waits, and runs the next one", async () => {
  const createProblem = (): Problem => new Problem(standardProblems.rateLimited, "Too many.");
  const limiter = createKeyedTaskLimiter({ maxRunning: 1, maxWaiting: 1, createProblem });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const started: string[] = [];
  const run = (name: string, signal?: AbortSignal): Promise<void> =>
    limiter.run(
      "one",
      () => {
        started.push(name);
        return ended;
      },
      signal,
    );
  const aborting = new AbortController();
  const running = run("running");
  const abandoned = run("abandoned", aborting.signal);
  aborting.abort(new Error("gone"));
  await assert.rejects(abandoned, /gone/);
  const next = run("next");
  end();
  await Promise.all([running, next]);
  assert.deepEqual(started, ["running", "next"]);
  assert.equal(limiter.size(), 0);
});
