import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";

const FRONTEND = join(import.meta.dirname, "..");
const BUDGET_BYTES = 40_000;
const FONTS_BYTES = 58_000;
let folder = "";

before(() => {
  folder = mkdtempSync(join(tmpdir(), "frontend-"));
  execFileSync(process.execPath, ["build.mjs", folder], { cwd: FRONTEND });
});
after(() => rmSync(folder, { recursive: true }));

const text = (name: string) => readFileSync(join(folder, name), "utf8");
const size = (name: string) => statSync(join(folder, name)).size;
const entry = () => JSON.parse(text("manifest.json")).weights as string;

/** The files that the browser must have before a module runs. */
function needed(name: string, seen = new Set<string>()): Set<string> {
  seen.add(name);
  for (const [, next] of text(name).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
    if (!seen.has(next!)) needed(next!, seen);
  return seen;
}

test("the Weights panel is at most 40 KB, compressed, before its first picture", () => {
  const total = [...needed(entry())].reduce((sum, name) => sum + size(`${name}.gz`), 0);
  assert.ok(total <= BUDGET_BYTES, `${total} bytes`);
  assert.ok(total > BUDGET_BYTES / 4, "the files that make it up were found");
});

test("the fonts are three Latin subsets of at most 58 KB", () => {
  const fonts = readdirSync(folder).filter((name) => name.endsWith(".woff2"));
  assert.equal(fonts.length, 3);
  assert.ok(fonts.reduce((sum, name) => sum + size(name), 0) <= FONTS_BYTES);
});

test("every name carries a hash, and every script lies there compressed too", () => {
  for (const name of readdirSync(folder)) {
    if (name === "manifest.json") continue;
    assert.match(name, /-[A-Z0-9]{8}\.(js|js\.gz|woff2)$/);
    if (name.endsWith(".js"))
      assert.equal(gunzipSync(readFileSync(join(folder, `${name}.gz`))).toString(), text(name));
  }
});

test("the entry exports render, which TensorBoard calls", async () => {
  assert.match(text(entry()), /export\{[^}]*\brender\b[^}]*\}/);
});

test("nothing is fetched from anywhere else, and no worker is made from text", () => {
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".js"))) {
    const code = text(name).replaceAll("http://www.w3.org/", "");
    assert.doesNotMatch(code, /https?:\/\/|\/\/[a-z0-9-]+\.[a-z]{2,}\//i, name);
    assert.doesNotMatch(code, /new Worker|createObjectURL|\beval\(/, name);
  }
});

test("the lock file names no registry of its own", () => {
  const lock = readFileSync(join(FRONTEND, "package-lock.json"), "utf8");
  for (const [, host] of lock.matchAll(/"resolved":\s*"https?:\/\/([^/"]+)/g))
    assert.equal(host, "registry.npmjs.org");
});
