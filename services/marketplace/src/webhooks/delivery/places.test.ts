import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { createPlaces, type Places } from "./places.ts";

function placesOf(t: TestContext, mostInFlight: number): { places: Places; freed: () => number } {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let freed = 0;
  const onFree = (): void => {
    freed += 1;
  };
  return { places: createPlaces({ mostInFlight, mostPerRecipient: 2, onFree }), freed: () => freed };
}

const take = (places: Places, count: number, name = "hangs"): (() => void)[] =>
  Array.from({ length: count }, (_, nth) => places.take(`${name}-${nth}`));

describe("places of requests in flight", () => {
  test("are so many, and one that is given back is free again", (t) => {
    const { places, freed } = placesOf(t, 3);
    const [first] = take(places, 3);
    assert.equal(places.free(), 0);
    first?.();
    assert.deepEqual([places.free(), freed()], [1, 1]);
  });

  test("of one recipient are fewer, and only its own count", (t) => {
    const { places } = placesOf(t, 10);
    const leave = places.take("one");
    places.take("one");
    places.take("other");
    assert.deepEqual([places.isFull("one"), places.isFull("other"), places.fullRecipients()], [true, false, ["one"]]);
    leave();
    assert.deepEqual(places.fullRecipients(), []);
  });

  test("go to others after a second, so that receivers that hang can't take them all", (t) => {
    const { places, freed } = placesOf(t, 4);
    const leaving = take(places, 4);
    t.mock.timers.tick(999);
    assert.equal(places.free(), 0);
    t.mock.timers.tick(1);
    assert.deepEqual([places.free(), freed()], [4, 4]);
    for (const leave of leaving) leave();
    assert.equal(places.free(), 4, "a place is given back once, however slow its request was");
  });

  test("of those that hang have a bound too", (t) => {
    const { places } = placesOf(t, 4);
    const hanging: (() => void)[] = [];
    for (let round = 0; round < 8; round += 1) {
      hanging.push(...take(places, 4, `round-${round}`));
      t.mock.timers.tick(1_000);
    }
    assert.equal(places.free(), 4);
    take(places, 4, "one-too-many");
    t.mock.timers.tick(1_000);
    assert.equal(places.free(), 0);
    hanging[0]?.();
    assert.equal(places.free(), 0, "what hung beyond the bound keeps its place until it ends");
  });

  test("are empty when the last one has left, the slow ones included", async (t) => {
    const { places } = placesOf(t, 2);
    const [first, second] = take(places, 2);
    t.mock.timers.tick(1_000);
    let isEmpty = false;
    const becomesEmpty = async (): Promise<void> => {
      await places.empty();
      isEmpty = true;
    };
    const empty = becomesEmpty();
    first?.();
    await Promise.resolve();
    assert.equal(isEmpty, false);
    second?.();
    await empty;
    await places.empty();
  });
});
