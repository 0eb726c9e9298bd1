/** Starts the Chromium of this machine. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
  "--no-sandbox", // root has none
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executable(), args: FLAGS });
}

function executable(): string {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(delimiter))
    for (const name of NAMES) if (isExecutable(join(folder, name))) return join(folder, name);
  throw new Error(
    `None of ${NAMES.join(", ")} is on PATH. Install Chromium, or set CHROMIUM to where it is.`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
