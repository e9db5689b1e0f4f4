import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { createSlots, type Slots } from "./slots.ts";

function createTestSlots(t: TestContext, maxInFlight: number): { slots: Slots; freed: () => number } {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let freed = 0;
  const onFree = (): void => {
    freed += 1;
  };
  return { slots: createSlots({ maxInFlight, maxPerRecipient: 2, onFree }), freed: () => freed };
}

const take = (slots: Slots, count: number, name = "hangs"): (() => void)[] =>
  Array.from({ length: count }, (_, nth) => slots.take(`${name}-${nth}`).release);

describe("slots for requests in flight", () => {
  test("are limited in total, and a released one is free again", (t) => {
    const { slots, freed } = createTestSlots(t, 3);
    const [first] = take(slots, 3);
    assert.equal(slots.free(), 0);
    first?.();
    assert.deepEqual([slots.free(), freed()], [1, 1]);
  });

  test("are limited per recipient", (t) => {
    const { slots } = createTestSlots(t, 10);
    const { release } = slots.take("one");
    slots.take("one");
    slots.take("other");
    assert.deepEqual([slots.isFull("one"), slots.isFull("other"), slots.fullRecipients()], [true, false, ["one"]]);
    release();
    assert.deepEqual(slots.fullRecipients(), []);
  });

  test("are free for the recipient once it has responded, and in total once the delivery is settled", (t) => {
    const { slots, freed } = createTestSlots(t, 2);
    const { endRequest, release } = slots.take("one");
    slots.take("one");
    endRequest();
    assert.deepEqual([slots.isFull("one"), slots.free(), freed()], [false, 0, 1]);
    release();
    assert.deepEqual([slots.isFull("one"), slots.free(), freed()], [false, 1, 2]);
  });

  test("are released after a second, so that hanging receivers can't take them all", (t) => {
    const { slots, freed } = createTestSlots(t, 4);
    const releases = take(slots, 4);
    t.mock.timers.tick(999);
    assert.equal(slots.free(), 0);
    t.mock.timers.tick(1);
    assert.deepEqual([slots.free(), freed()], [4, 4]);
    for (const release of releases) release();
    assert.equal(slots.free(), 4, "a slot is released once, however slow its request was");
  });

  test("are kept by slow requests beyond the limit for those", (t) => {
    const { slots } = createTestSlots(t, 4);
    const hanging: (() => void)[] = [];
    for (let round = 0; round < 8; round += 1) {
      hanging.push(...take(slots, 4, `round-${round}`));
      t.mock.timers.tick(1_000);
    }
    assert.equal(slots.free(), 4);
    take(slots, 4, "one-too-many");
    t.mock.timers.tick(1_000);
    assert.equal(slots.free(), 0);
    hanging[0]?.();
    assert.equal(slots.free(), 0, "a slow request beyond the limit keeps its slot until it ends");
  });

  test("are idle when the last request has ended, including slow ones", async (t) => {
    const { slots } = createTestSlots(t, 2);
    const [first, second] = take(slots, 2);
    t.mock.timers.tick(1_000);
    let isEmpty = false;
    const becomesEmpty = async (): Promise<void> => {
      await slots.whenIdle();
      isEmpty = true;
    };
    const empty = becomesEmpty();
    first?.();
    await Promise.resolve();
    assert.equal(isEmpty, false);
    second?.();
    await empty;
    await slots.whenIdle();
  });
});
