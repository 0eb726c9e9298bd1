/** The one call that fills the tab. */

import { Code } from "../../widgets/empty.tsx";

export function Call({ logdir }: { logdir: string }) {
  return (
    <>
      <div class="seg" role="tablist" aria-label="Framework">
        <span class="on" role="tab" tabIndex={0} aria-selected="true">
          PyTorch
        </span>
      </div>
      <Code
        testId="copy-call"
        lines={[
          "import zentracer.torch as zt",
          `tracer = zt.watch(model, optimizer, logdir=${exampleDir(logdir)})`,
        ]}
      />
    </>
  );
}

/** A run directory as Python writes it: in the logdir where that is one plain path, else in one of its name. */
export function exampleDir(logdir: string): string {
  const path = logdir.replace(/\/+$/, "");
  const isPlain = /^\/[^,:]*$/.test(path);
  const name = /^[^,:]*\/([^/,:]+)$/.exec(path)?.[1] ?? "runs";
  return JSON.stringify(`${isPlain ? path : name}/baseline`);
}
