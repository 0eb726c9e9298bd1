/** Starts what a user has running beside the browser: TensorBoard in each way it reads files, and trainings. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PYTHON = join(ROOT, ".venv/bin/python");

/** TensorBoard's data server, its Python loader with TensorFlow, and the same without. */
export const MODES = ["rust", "python", "python-no-tf"] as const;
export type Mode = (typeof MODES)[number];

export interface Running {
  stop(): Promise<void>;
}

/** Python with `args`. `stop` closes its standard input and, where `kill`, sends SIGTERM. */
function python(args: readonly string[], kill: boolean) {
  const child = spawn(PYTHON, args, { cwd: ROOT, stdio: ["pipe", "pipe", "pipe"] });
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      output.text += text;
    });
  const closed = once(child, "close");
  const atExit = () => kill && child.kill("SIGKILL");
  process.once("exit", atExit);
  child.once("close", () => process.removeListener("exit", atExit));
  const stop = async () => {
    child.stdin.end();
    if (kill) child.kill();
    await closed;
  };
  return { child, output, closed, stop };
}

/** The first match in what `child` prints; rejects with all it printed where it ends before. */
function printed(child: ChildProcess, output: { text: string }, pattern: RegExp): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    child.stdout!.on("data", () => {
      const match = output.text.match(pattern);
      if (match) resolve(match);
    });
    child.once("close", () => reject(new Error(`It ended without printing ${pattern}:\n${output.text}`)));
  });
}

/** TensorBoard on `logdir`, ready to answer at `address`. */
export async function tensorboard(logdir: string, mode: Mode): Promise<Running & { address: string }> {
  const { child, output, stop } = python(["tests/tensorboard_server.py", mode, logdir], false);
  const [, port] = await printed(child, output, /PORT (\d+)/);
  return { address: `http://127.0.0.1:${port}/`, stop };
}

/** The demo's digits at a healthy rate, written into `logdir` until it is stopped. */
export async function training(logdir: string): Promise<Running> {
  const args = ["-m", "demo_runs.digits", "healthy", "--logdir", logdir, "--steps", "1000000"];
  const { child, output, stop } = python(args, true);
  await printed(child, output, /step \d/);
  return { stop };
}

/** Resolves when Python is through with `args`; rejects with what it printed where it failed. */
export async function done(...args: string[]): Promise<void> {
  const { child, output, closed } = python(args, false);
  await closed;
  if (child.exitCode !== 0) throw new Error(`python ${args.join(" ")} failed:\n${output.text}`);
}

/** All demo runs, short. */
export const demoRuns = (logdir: string) => done("-m", "demo_runs", "--quick", "--logdir", logdir);

/** A run that is out of the ordinary: see tests/odd_logs.py. */
export const oddRun = (kind: OddKind, run: string) => done("-m", "tests.odd_logs", kind, run);
export type OddKind = "scalars" | "newer" | "device" | "mixed" | "resumed" | "began_again";

/** A new directory, and how to remove it. */
export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "zentracer-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
