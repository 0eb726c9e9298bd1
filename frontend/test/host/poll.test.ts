import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { delay, type Outcome, poll } from "../../src/host/poll.ts";

const PACE = { steady_ms: 2000, idle_ms: 10_000, away_ms: 30_000 };

test("news keeps the pace", () => {
  assert.equal(delay("news", 1, PACE), 2000);
  assert.equal(delay("news", 1000, PACE), 2000);
});

test("without news it slows after ten tries, to the slowest", () => {
  assert.equal(delay("same", 1, PACE), 2000);
  assert.equal(delay("same", 10, PACE), 2000);
  assert.ok(delay("same", 12, PACE) > 2000);
  assert.equal(delay("same", 1000, PACE), 10_000);
});

test("without an answer it doubles, to the slowest", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 1000].map((times) => delay("failed", times, PACE)),
    [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
});

test("asks at once, then at the pace, then not while paused", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const outcomes: Outcome[] = ["news", "failed", "failed", "news"];
    let asked = 0;
    const polling = poll(
      async () => outcomes[asked++] ?? "same",
      () => PACE,
    );
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    polling.now();
    await settle();
    assert.equal(asked, 1);
    mock.timers.tick(1999);
    await settle();
    assert.equal(asked, 1);
    mock.timers.tick(1);
    await settle();
    assert.equal(asked, 2);
    assert.equal(polling.due(), 4000);
    mock.timers.tick(2000);
    await settle();
    assert.equal(asked, 3, "the first failure waits as long as before");
    mock.timers.tick(2000);
    await settle();
    assert.equal(asked, 3, "the second twice as long");
    polling.pause();
    mock.timers.tick(100_000);
    await settle();
    assert.equal(asked, 3);
    assert.equal(polling.due(), undefined);
    polling.now();
    await settle();
    assert.equal(asked, 4);
  } finally {
    mock.timers.reset();
  }
});

/** A poll that answers "same" when it is let, and how often it asked. */
function held() {
  let asked = 0;
  let letGo = () => {};
  const polling = poll(
    () => {
      asked++;
      return new Promise<Outcome>((resolve) => {
        letGo = () => resolve("same");
      });
    },
    () => PACE,
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async () => {
    letGo();
    await settle();
  };
  return { polling, answer, settle, asked: () => asked };
}

test("soon asks before its time, but not within the gap", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const { polling, answer, asked } = held();
    polling.soon(0);
    mock.timers.tick(10_000);
    assert.equal(asked(), 0); // paused
    polling.now();
    await answer();
    polling.soon(500);
    polling.soon(800);
    mock.timers.tick(499);
    assert.equal(asked(), 1);
    mock.timers.tick(1);
    assert.equal(asked(), 2);
    await answer();
    polling.soon(60_000); // never later than it would have been
    mock.timers.tick(2000);
    assert.equal(asked(), 3);
    await answer();
    mock.timers.tick(1000);
    polling.soon(500);
    mock.timers.tick(0);
    assert.equal(asked(), 4);
    await answer();
    polling.soon(500);
    polling.pause();
    mock.timers.tick(60_000);
    assert.equal(asked(), 4);
  } finally {
    mock.timers.reset();
  }
});

test("soon while a question is out asks once more, since the answer may be older than the news", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const { polling, answer, asked } = held();
    polling.now();
    polling.soon(100);
    await answer();
    mock.timers.tick(100);
    assert.equal(asked(), 2);
    await answer();
    mock.timers.tick(1999);
    assert.equal(asked(), 2);
    mock.timers.tick(1);
    assert.equal(asked(), 3);
  } finally {
    mock.timers.reset();
  }
});
