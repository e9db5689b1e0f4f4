import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { createOrganisationSlots } from "./organisation-slots.ts";

test("runs two changes of an organisation, queues fifty and refuses more, without affecting others or keeping idle entries", async () => {
  const slots = createOrganisationSlots();
  let running = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async (): Promise<string> => {
    running += 1;
    await ended;
    return "done";
  };
  const all = Array.from({ length: 52 }, () => slots.run("riverside", work));
  assert.equal(running, 2);
  await assert.rejects(slots.run("riverside", work), (error) => error instanceof Problem && error.kind.status === 429);
  assert.equal(await slots.run("hilltop", async () => "other"), "other");
  await assert.rejects(
    slots.run("lakeside", () => Promise.reject(new Error("failed"))),
    /failed/,
  );
  assert.deepEqual([running, slots.size()], [2, 1]);
  end();
  assert.deepEqual(new Set(await Promise.all(all)), new Set(["done"]));
  assert.equal(slots.size(), 0);
});
