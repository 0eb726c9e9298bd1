/** What stands in the place of the picture: nothing recorded, nothing readable, nothing of this statistic. */

import { bytes, plural, whole } from "../../base/numbers.ts";
import { Empty } from "../../widgets/empty.tsx";
import { useApp } from "./app-context.ts";
import { Call } from "./call.tsx";
import type { Found, RunsAnswer } from "./contract.ts";
import { Example } from "./example.tsx";
import { OtherRun } from "./other-run.tsx";
import type { Phase } from "./phase.ts";
import { grouped } from "./statistics.ts";

export function Pane({ phase }: { phase: Phase }) {
  const { model } = useApp();
  const runs = model.runs.value;
  switch (phase.is) {
    case "empty":
      return runs && <NoData runs={runs} />;
    case "scalars":
      return model.summary.value && <OtherRun run={model.summary.value} />;
    case "partial":
      return <NotRecorded run={phase.run} statistic={phase.statistic} />;
    case "error":
      return (
        <Trouble run={phase.run} sentence={phase.sentence} {...(phase.retry && { retry: phase.retry })} />
      );
    default:
      return null;
  }
}

/** No run has tables: what was looked for, where, what was there, and the one call that fills the tab. */
export function NoData({ runs }: { runs: RunsAnswer }) {
  const { found } = runs;
  return (
    <Empty
      testId="empty"
      title={found.runs ? "No ZenTracer data in this logdir yet" : "No runs in this logdir yet"}
      facts={[
        [
          "Looked for",
          <>
            <code>parameters</code> tables, written by <code>zentracer</code>
          </>,
        ],
        ["Where", <Where key="where" runs={runs} />],
        ["Found", otherWriters(found)],
        [
          "Looks again",
          <span key="again" class="liveness">
            <i class="glyph live halo" aria-hidden="true" />
            every {whole(runs.looks_again_s)} s; the picture appears here by itself
          </span>,
        ],
      ]}
    >
      <p>One call after the optimizer is made fills this tab:</p>
      <Call logdir={runs.logdir} />
      <p class="quiet">
        Nothing else in the script changes. By default it takes about 2 % of a step; what it measured is shown
        here.
      </p>
      <Example />
    </Empty>
  );
}

function Where({ runs: { logdir, found } }: { runs: RunsAnswer }) {
  const readable = found.unreadable
    ? `${whole(found.unreadable)} unreadable`
    : found.files
      ? "all readable"
      : "";
  const parts = [
    plural(found.runs, "run"),
    plural(found.files, "event file"),
    ...(found.files ? [bytes(found.bytes), readable] : []),
  ];
  return (
    <>
      <code>{logdir}</code>, {parts.join(", ")}
    </>
  );
}

/** `38 scalar and 4 histogram tags of other writers. They are in Time Series; each run says what it holds.` */
export function otherWriters(found: Found): string {
  const sorts = [
    [found.scalar_tags, "scalar"],
    [found.histogram_tags, "histogram"],
    [found.other_tags, "other"],
  ] as const;
  const some = sorts.filter(([count]) => count > 0);
  if (!some.length) return "nothing yet";
  const total = some.reduce((sum, [count]) => sum + count, 0);
  const list = some.map(([count, kind]) => `${whole(count)} ${kind}`);
  const last = list.pop();
  const kinds = list.length ? `${list.join(", ")} and ${last}` : last;
  const where = found.other_tags ? "TensorBoard's own tabs" : "Time Series";
  return `${kinds} tag${total === 1 ? "" : "s"} of other writers. They are in ${where}; each run says what it holds.`;
}

/** The run has tables, but no value of this statistic. */
function NotRecorded({ run, statistic }: { run: string; statistic: string }) {
  const { model, actions } = useApp();
  const others = grouped(model.scope.value?.columns ?? []).map(([, columns]) => columns[0]!);
  const hint = filledBy(model.choices.value.statistic);
  return (
    <Empty testId="partial" title={`${run} has no ${statistic}`}>
      {hint && <p>{hint}</p>}
      <p>{others.length ? "It has other statistics:" : "It has no statistics of its parameters yet."}</p>
      <div class="choices">
        {others.map((column) => (
          <button
            key={column.name}
            type="button"
            class="ctl"
            onClick={() => actions.chooseStatistic(column.name)}
          >
            {column.label}
          </button>
        ))}
      </div>
    </Empty>
  );
}

/** What makes a statistic be recorded that not every script has. */
export function filledBy(name: string): string {
  return name === "gradient_norm_before_clip"
    ? "It is recorded on steps on which the script calls torch.nn.utils.clip_grad_norm_."
    : "";
}

/** One sentence in the run's place; other runs stay as they are. */
function Trouble({ run, sentence, retry }: { run: string; sentence: string; retry?: () => void }) {
  return (
    <Empty testId="error" title={`${run} cannot be shown`}>
      <p class="sentence">{sentence}</p>
      {retry && (
        <button type="button" class="ctl" data-testid="error-retry" onClick={retry}>
          Try again
        </button>
      )}
    </Empty>
  );
}
