/** How far the logs are read: beside the scale of what is there already, or in the place of the first picture. */

import { bytes, duration, plural, whole } from "../../base/numbers.ts";
import { withNumbers } from "../../widgets/with-numbers.tsx";
import { useApp } from "./app-context.ts";
import type { Found, Progress } from "./contract.ts";

export function Reading() {
  const { model, picture } = useApp();
  const runs = model.runs.value;
  const cells = picture.cells.answer.value;
  if (!runs || runs.progress.done || (cells && model.summary.value?.state !== "reading")) return null;
  return (
    <div class={cells ? "so-far" : "so-far alone"} role="status" data-testid="reading">
      <div>{withNumbers(filesRead(runs.progress))}</div>
      <div class="quiet">{withNumbers(bytesRead(runs.progress))}</div>
      {!cells && (
        <p class="quiet">
          {withNumbers(foundSoFar(runs.found))} The picture appears with the first samples, and grows while
          the rest is read.
        </p>
      )}
    </div>
  );
}

/** `Reading 12 of 40 files, 11 s left`. */
export function filesRead({ files, files_total, seconds_left }: Progress): string {
  if (!files_total) return "Looking for event files";
  const left = seconds_left === null ? "" : `, ${duration(seconds_left)} left`;
  return `Reading ${whole(files)} of ${plural(files_total, "file")}${left}`;
}

/** `2.1 GB of 6.9 GB at 441 MB/s`. */
export function bytesRead({ bytes: read, bytes_total, bytes_per_second }: Progress): string {
  const speed = bytes_per_second === null ? "" : ` at ${bytes(bytes_per_second)}/s`;
  return bytes_total ? `${bytes(read)} of ${bytes(bytes_total)}${speed}` : "";
}

/** `Found so far: 9 runs, 38 scalar tags.` */
export function foundSoFar(found: Found): string {
  const parts = [
    plural(found.runs, "run"),
    ...(found.scalar_tags ? [plural(found.scalar_tags, "scalar tag")] : []),
    ...(found.histogram_tags ? [plural(found.histogram_tags, "histogram tag")] : []),
    ...(found.other_tags ? [plural(found.other_tags, "other tag")] : []),
  ];
  return `Found so far: ${parts.join(", ")}.`;
}
