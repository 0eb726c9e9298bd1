import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionInfo, Steps } from "../../../src/panels/weights/contract.ts";
import {
  againBars,
  overwrittenText,
  pastText,
  placeMarks,
  restartsOf,
  restartText,
  shiftText,
  writtenIn,
} from "../../../src/panels/weights/sessions.ts";
import { seeded, whole } from "../../random.ts";

const session = (more: Partial<SessionInfo> = {}): SessionInfo => ({
  id: null,
  start_step: 0,
  wall: new Date(2020, 10, 29, 22, 10).getTime() / 1000,
  continues: null,
  first: 0,
  last: 90,
  overwritten: null,
  offset: null,
  ...more,
});
const recorded = (...samples: [step: number, session: number][]): Steps => ({
  steps: Float64Array.from(samples, ([step]) => step),
  session: Uint32Array.from(samples, ([, number]) => number),
});
const RESUMED = [
  session({ overwritten: { from: 60, to: 90, samples: 4 } }),
  session({ first: 60, last: 120 }),
];
const AGAIN = [session({ overwritten: { from: 0, to: 90, samples: 10 } }), session({ offset: 91, last: 40 })];

test("a restart is where another session takes over", () => {
  assert.deepEqual(restartsOf(undefined), []);
  assert.deepEqual(restartsOf(recorded([0, 0], [10, 0], [20, 0])), []);
  assert.deepEqual(restartsOf(recorded([0, 0], [10, 0], [20, 1], [30, 1], [40, 3])), [
    { step: 20, session: 1, before: 0 },
    { step: 40, session: 3, before: 1 },
  ]);
});

test("a run whose first session is overwritten whole begins with a restart", () => {
  assert.deepEqual(restartsOf(recorded([0, 1], [10, 1])), [{ step: 0, session: 1, before: -1 }]);
});

test("a mark says what became of the samples before it, as far as there is room", () => {
  const restarts = [{ step: 60, session: 1, before: 0 }];
  const label = (width: number, room = width) =>
    placeMarks(restarts, RESUMED, { from: 0, to: 120 }, width, room)[0]?.label;
  assert.equal(label(800), "restart, 4 samples superseded");
  assert.equal(label(200), "restart");
  assert.equal(label(40), "");
  assert.equal(label(800, 500), "restart", "what stands at the right end is left alone");
});

test("restarts that would lie on each other are one mark, and those outside the window none", () => {
  const sessions = Array.from({ length: 5 }, () => session());
  const restarts = [10, 500, 504, 508, 2000].map((step, k) => ({ step, session: k + 1, before: k }));
  assert.deepEqual(placeMarks(restarts, sessions, { from: 100, to: 1100 }, 1000, 1000), [
    { x: 400, session: 4, label: "3 restarts" },
  ]);
});

test("no two marks touch, whatever the restarts", () => {
  const random = seeded(31);
  for (let round = 0; round < 200; round++) {
    const count = whole(random, 1, 60);
    const steps = [...new Set(Array.from({ length: count }, () => whole(random, 0, 1000)))].sort(
      (a, b) => a - b,
    );
    const restarts = steps.map((step, k) => ({ step, session: k + 1, before: k }));
    const sessions = Array.from({ length: steps.length + 1 }, () =>
      session({ overwritten: { from: 0, to: 1, samples: whole(random, 1, 1e6) } }),
    );
    const marks = placeMarks(restarts, sessions, { from: 0, to: 1000 }, 852, 700);
    for (const [k, mark] of marks.entries()) {
      const end = mark.x + 16 + mark.label.length * 6;
      if (marks[k + 1]) assert.ok(end <= marks[k + 1]!.x || mark.label === "", `${k} of ${marks.length}`);
      if (marks[k + 1]) assert.ok(marks[k + 1]!.x - mark.x >= 14);
      if (mark.label) assert.ok(end <= 700);
    }
  }
});

test("a restart in words", () => {
  assert.equal(restartText({ step: 60, session: 1, before: 0 }, [session(), session()]), "restart");
  assert.equal(restartText({ step: 60, session: 1, before: 0 }, RESUMED), "restart, 4 samples superseded");
  const two = [...RESUMED, session({ first: 50 })];
  two[1] = session({ overwritten: { from: 60, to: 120, samples: 7 } });
  assert.equal(
    restartText({ step: 50, session: 2, before: 0 }, two),
    "restart, 11 samples superseded",
    "those of a session that is hidden whole count too",
  );
  assert.equal(
    restartText({ step: 0, session: 1, before: -1 }, AGAIN),
    "counter began again, 1 session hidden",
  );
});

test("bars stand over what later sessions recorded again, among those that count", () => {
  const lost = (from: number, to: number) => session({ overwritten: { from, to, samples: 1 } });
  const sessions = [lost(60, 90), lost(100, 120), session()];
  const view = { from: 0, to: 200 };
  assert.deepEqual(againBars(sessions, null, view, 1000), [
    { left: 300, right: 450 },
    { left: 500, right: 600 },
  ]);
  assert.deepEqual(againBars(sessions, 0, view, 1000), [{ left: 300, right: 450 }]);
  assert.deepEqual(againBars([lost(110, 150), lost(60, 120)], null, view, 1000), [{ left: 300, right: 750 }]);
  assert.deepEqual(againBars(sessions, null, { from: 80, to: 100 }, 100), [
    { left: 0, right: 50 },
    { left: 100, right: 100 },
  ]);
  assert.deepEqual(againBars(sessions, null, { from: 130, to: 200 }, 100), []);
  assert.deepEqual(
    againBars([lost(5, 5)], null, view, 1000),
    [{ left: 25, right: 27 }],
    "a lone step is seen",
  );
});

test("a thousand restarts are no more bars than there is room for", () => {
  const random = seeded(32);
  const sessions = Array.from({ length: 1000 }, () => {
    const from = whole(random, 0, 1e6);
    return session({ overwritten: { from, to: from + whole(random, 0, 2000), samples: 1 } });
  });
  const bars = againBars(sessions, null, { from: 0, to: 1e6 }, 852);
  assert.ok(bars.length <= 852 / 3);
  for (const [k, bar] of bars.entries()) assert.ok(k === 0 || bar.left > bars[k - 1]!.right + 1);
});

test("what became of the samples of a session, in words", () => {
  assert.equal(overwrittenText(RESUMED[0]!), "Steps 60 to 90 were superseded since, 4 samples.");
  assert.equal(
    overwrittenText(session({ overwritten: { from: 9, to: 9, samples: 1 } })),
    "Step 9 was superseded since, 1 sample.",
  );
  assert.equal(overwrittenText(session()), "");
});

test("what other writers did in several sessions, in words", () => {
  const anew = (samples: number) => session({ overwritten: { from: 0, to: 9, samples } });
  assert.equal(writtenIn([session(), session()]), "Written in 2 sessions.");
  assert.equal(writtenIn([anew(1), session()]), "Written in 2 sessions: 1 point was superseded.");
  assert.equal(
    writtenIn([anew(20), session({ offset: 10 }), session({ offset: 20 })]),
    "Written in 3 sessions: the counter began again in 2 of them, 20 points were superseded.",
  );
});

test("an earlier view of the run says which it is, the run as it stands says nothing", () => {
  assert.equal(
    pastText(RESUMED, 0),
    "As the run stood before session 2 began (29 Nov 2020, 22:10). Steps 60 to 90 were superseded since, 4 samples.",
  );
  assert.equal(
    pastText([session(), session()], 0),
    "As the run stood before session 2 began (29 Nov 2020, 22:10).",
  );
  for (const until of [null, 1, 7]) assert.equal(pastText(RESUMED, until), "");
});

test("sessions that were moved say by how much", () => {
  assert.equal(shiftText(AGAIN), "Sessions lie one behind the other: 91 is added to the steps of session 2.");
  const many = (n: number) => [
    session(),
    ...Array.from({ length: n }, (_, k) => session({ offset: 100 * (k + 1) })),
  ];
  assert.equal(
    shiftText(many(2)),
    "Sessions lie one behind the other: 100 is added to the steps of session 2, 200 to those of session 3.",
  );
  assert.equal(
    shiftText(many(9)),
    "Sessions lie one behind the other: 100 is added to the steps of session 2, more to those of 8 others.",
  );
  assert.equal(shiftText([session()]), "Sessions lie one behind the other.");
});
