/** A run of other writers: what was found in it, where TensorBoard shows that, and what would fill this tab. */

import { count, whole } from "../../base/numbers.ts";
import { moment } from "../../base/times.ts";
import { Empty } from "../../widgets/empty.tsx";
import { withNumbers } from "../../widgets/with-numbers.tsx";
import { useApp } from "./app-context.ts";
import { Call } from "./call.tsx";
import type { CatalogueEntry, RunSummary } from "./contract.ts";
import { holding, isBlank } from "./run-words.ts";
import { writtenIn } from "./sessions.ts";

export function OtherRun({ run }: { run: RunSummary }) {
  const { model } = useApp();
  const runs = model.runs.value;
  const info = model.info.answer.value?.value;
  const catalogue = info?.run === run.name ? info.catalogue : [];
  const written = (info?.run === run.name ? info.sessions : []).map(writtenIn);
  const odd = (runs?.oddities ?? []).filter((oddity) => oddity.run === run.name);
  return (
    <Empty testId="scalars-only" title={otherTitle(run)}>
      {catalogue.length > 0 && <Catalogue entries={catalogue} />}
      <p class="quiet">{withNumbers([otherSummary(run), ...written].join(" "))}</p>
      {odd.length > 0 && (
        <ul class="found-odd" aria-label="Oddities of this run" data-testid="run-oddities">
          {odd.slice(0, SHOWN_ODDITIES).map(({ text }) => (
            <li key={text}>{withNumbers(text)}</li>
          ))}
          {odd.length > SHOWN_ODDITIES && (
            <li class="quiet">{whole(odd.length - SHOWN_ODDITIES)} more among the oddities</li>
          )}
        </ul>
      )}
      <p>
        {isBlank(run)
          ? "Its first sample is shown here by itself, once its script calls:"
          : "One call after the optimizer is made fills this tab:"}
      </p>
      <Call logdir={runs?.logdir ?? ""} />
    </Empty>
  );
}

const SHOWN_ODDITIES = 3;

function Catalogue({ entries }: { entries: readonly CatalogueEntry[] }) {
  return (
    <table class="catalogue" data-testid="catalogue">
      <thead>
        <tr>
          <th>Found</th>
          <th class="right">Tags</th>
          <th class="right">Points</th>
          <th>Such as</th>
          <th>Shown in</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.sort}>
            <td>{SORTS[entry.sort]?.name ?? entry.sort}</td>
            <td class="num right">{whole(entry.tags)}</td>
            <td class="num right">{count(entry.points)}</td>
            <td class="tags" title={entry.examples.join("\n")}>
              {examples(entry)}
            </td>
            <td class="quiet">{SORTS[entry.sort]?.tab ?? ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What each sort is called, and the tab of TensorBoard's own that shows it. */
const SORTS: Readonly<Record<string, { readonly name: string; readonly tab: string }>> = {
  scalar: { name: "scalars", tab: "Time Series" },
  histogram: { name: "histograms", tab: "Time Series" },
  image: { name: "images", tab: "Time Series" },
  audio: { name: "audio", tab: "Audio" },
  text: { name: "text", tab: "Text" },
  hparams: { name: "hyperparameters", tab: "HParams" },
  graph: { name: "graphs", tab: "Graphs" },
  tensor: { name: "tensors", tab: "" },
  table: { name: "tables", tab: "" },
  message: { name: "messages", tab: "" },
  other: { name: "other", tab: "" },
};

/** `loss, accuracy and 10 more`. */
export function examples({ examples: names, tags }: CatalogueEntry): string {
  const more = tags - names.length;
  return more > 0 ? `${names.join(", ")} and ${whole(more)} more` : names.join(", ");
}

export function otherTitle(run: RunSummary): string {
  if (isBlank(run)) return `${run.name} has no samples yet`;
  return `${run.name} holds ${holding(run)}`;
}

/** `Up to step 50,000, last written on 30 Nov, 10:41.` */
export function otherSummary({ last_step, last_wall }: RunSummary): string {
  const parts = [
    ...(last_step === null ? [] : [`up to step ${whole(last_step)}`]),
    ...(last_wall === null ? [] : [`last written on ${moment(last_wall)}`]),
  ].join(", ");
  return parts && `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`;
}
