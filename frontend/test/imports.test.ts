import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const SOURCE = join(import.meta.dirname, "../src");

/** Whom each part may import, beside itself. */
const ALLOWED: Record<string, readonly string[]> = {
  base: [],
  host: ["base"],
  widgets: ["base"],
  "panels/weights": ["base", "host", "widgets"],
};

const FILES = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?<!\.d)\.tsx?$/.test(name),
);

const partOf = (path: string): string =>
  path.startsWith("panels/") ? path.split("/").slice(0, 2).join("/") : path.split("/")[0]!;

test("imports flow one way: panels to widgets and host, those to base, and no panel imports another", () => {
  assert.ok(FILES.length > 40);
  for (const file of FILES) {
    const part = partOf(file);
    const code = readFileSync(join(SOURCE, file), "utf8");
    for (const [, target] of code.matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)) {
      const other = partOf(relative(SOURCE, join(SOURCE, dirname(file), target!)));
      assert.ok(other === part || ALLOWED[part]!.includes(other), `${file} imports ${target}`);
    }
  }
});

test("text from logs becomes text nodes: nothing writes HTML", () => {
  for (const file of FILES) {
    const code = readFileSync(join(SOURCE, file), "utf8");
    assert.doesNotMatch(code, /innerHTML|outerHTML|insertAdjacentHTML|document\.write/, file);
  }
});
