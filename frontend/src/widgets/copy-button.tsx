/** Copies a text; where the browser refuses, shows it selected so that the keyboard can. */

import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "./copy.ts";
import { Icon, type IconName } from "./icons.tsx";

interface Props {
  readonly icon: IconName;
  /** Shown beside the icon; without it `title` names the button. */
  readonly label?: string;
  readonly title: string;
  readonly testId: string;
  readonly bare?: boolean;
  text(): string;
}

const SAID_MS = 2000;

export function CopyButton({ icon, label, title, testId, bare, text }: Props) {
  const [result, setResult] = useState<"none" | "copied" | "refused">("none");
  const copied = useRef("");
  useEffect(() => {
    if (result !== "copied") return;
    const timer = setTimeout(() => setResult("none"), SAID_MS);
    return () => clearTimeout(timer);
  }, [result]);

  const copy = async () => {
    copied.current = text();
    setResult((await copyText(copied.current)) ? "copied" : "refused");
  };
  return (
    <div class="popover">
      <button
        type="button"
        class={`ctl${bare ? " bare" : ""}${label ? "" : " square"}`}
        title={title}
        aria-label={label ? undefined : title}
        data-testid={testId}
        onClick={copy}
      >
        <Icon name={result === "copied" ? "check" : icon} />
        {label && (result === "copied" ? "Copied" : label)}
      </button>
      <span class="unseen" role="status">
        {result === "copied" && "Copied."}
      </span>
      {result === "refused" && (
        <div class="panel right ask">
          <p>The browser does not let us copy. Press Ctrl+C, or ⌘C on a Mac.</p>
          <input
            type="text"
            readOnly
            aria-label={title}
            data-testid={`${testId}-field`}
            value={copied.current}
            ref={(field) => {
              field?.focus();
              field?.select();
            }}
            onKeyDown={(event) => {
              event.stopPropagation();
              if (event.key === "Escape") setResult("none");
            }}
            onBlur={() => setResult("none")}
          />
        </div>
      )}
    </div>
  );
}
