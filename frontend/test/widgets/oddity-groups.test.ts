import assert from "node:assert/strict";
import { test } from "node:test";
import {
  groupOddities,
  likeIt,
  oddityLines,
  type PickerOddity,
  whereText,
} from "../../src/widgets/oddity-groups.ts";

const odd = (text: string, more: Partial<PickerOddity> = {}): PickerOddity => ({
  run: "a",
  file: "a/events.1",
  offset: null,
  wall: 1,
  text,
  ...more,
});

test("the same sentence about other numbers, names and files is one kind, newest first", () => {
  const groups = groupOddities([
    odd("The record's data (52 bytes) is damaged and is skipped.", { wall: 10 }),
    odd("The file holds the same bytes as 'x/events.1' of run 'x'.", { wall: 30, run: "b" }),
    odd("The record's data (1,024 bytes) is damaged and is skipped.", { wall: 20, run: "c" }),
    odd("The file holds the same bytes as 'y z/events.2' of run 'y z'.", { wall: 5, run: "b" }),
    odd("zentracer/model/parameters/62a546b9 repeats step 4; the first record of it counts.", { wall: 1 }),
    odd("zentracer/gan.d/parameters/00a546b9 repeats step 90; the first record of it counts.", { wall: 2 }),
  ]);
  assert.deepEqual(
    groups.map(({ members, runs }) => [members.length, members[0]!.wall, runs]),
    [
      [2, 30, ["b"]],
      [2, 20, ["c", "a"]],
      [2, 2, ["a"]],
    ],
  );
});

test("what differs in words is another kind", () => {
  assert.equal(groupOddities([odd("The file is empty."), odd("The file is a pipe.")]).length, 2);
});

test("what has no time comes last, in its order", () => {
  const none = { wall: null, run: null };
  const groups = groupOddities([odd("First.", none), odd("Second.", none), odd("Third.", { wall: 1 })]);
  assert.deepEqual(
    groups.map(({ members }) => members[0]!.text),
    ["Third.", "First.", "Second."],
  );
  assert.deepEqual(groups[1]!.runs, []);
});

test("a kind says how many others there are, and in how many runs", () => {
  assert.equal(likeIt(14, 5), "14 more like it in 5 runs");
  assert.equal(likeIt(1, 1), "1 more like it");
});

test("none is lost", () => {
  const oddities = Array.from({ length: 500 }, (_, k) =>
    odd(`Record ${k} of kind ${"abc"[k % 3]}.`, { wall: k % 7 }),
  );
  const groups = groupOddities(oddities);
  assert.equal(groups.length, 3);
  assert.deepEqual(new Set(groups.flatMap(({ members }) => members)), new Set(oddities));
});

test("the place is file and byte, as far as they are known", () => {
  assert.equal(whereText(odd("", { offset: 41_288_704 })), "a/events.1, byte 41,288,704");
  assert.equal(whereText(odd("")), "a/events.1");
  assert.equal(whereText(odd("", { file: null })), "");
});

test("a copy has a line for each, with all that is known of it", () => {
  const wall = new Date(2020, 0, 2, 3, 4).getTime() / 1000;
  assert.equal(
    oddityLines([
      odd("The record is damaged.", { wall, offset: 1000 }),
      odd("The folder cannot be listed.", { wall: null, run: null, file: null }),
    ]),
    "2 Jan 2020, 03:04; a; a/events.1, byte 1,000: The record is damaged.\nThe folder cannot be listed.",
  );
});
