import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { paced } from "../../src/host/paced.ts";

test("the first value passes at once, of those that come within the gap only the newest, after it", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const passed: number[] = [];
    let gap = 100;
    const give = paced(
      (value: number) => passed.push(value),
      () => gap,
    );
    give(1);
    assert.deepEqual(passed, [1]);
    give(2);
    give(3);
    mock.timers.tick(99);
    assert.deepEqual(passed, [1]);
    gap = 500;
    mock.timers.tick(1);
    assert.deepEqual(passed, [1, 3]);
    give(4);
    mock.timers.tick(499);
    assert.deepEqual(passed, [1, 3]);
    mock.timers.tick(1);
    assert.deepEqual(passed, [1, 3, 4]);
    mock.timers.tick(1000);
    give(5);
    assert.deepEqual(passed, [1, 3, 4, 5]);
  } finally {
    mock.timers.reset();
  }
});
