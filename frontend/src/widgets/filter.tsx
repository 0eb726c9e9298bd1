/** A text field that filters by a regular expression and says where it is none yet. */

import type { Ref } from "preact";
import { Icon, type IconName } from "./icons.tsx";

interface Props {
  readonly icon: IconName;
  readonly label: string;
  readonly value: string;
  readonly valid: boolean;
  /** Beside the text: `12 of 161`. */
  readonly note?: string;
  readonly testId: string;
  readonly input?: Ref<HTMLInputElement>;
  onChange(text: string): void;
}

export function Filter({ icon, label, value, valid, note, testId, input, onChange }: Props) {
  const why = valid ? "" : "This is not a regular expression yet, so nothing is filtered.";
  return (
    <label class={valid ? "field" : "field invalid"}>
      <Icon name={icon} />
      <input
        type="text"
        spellcheck={false}
        autocomplete="off"
        placeholder={label}
        aria-label={label}
        aria-invalid={!valid}
        {...(why && { "aria-describedby": `${testId}-why` })}
        title={why || label}
        data-testid={testId}
        value={value}
        {...(input && { ref: input })}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          if (value) onChange("");
          else event.currentTarget.blur();
        }}
      />
      {why && (
        <span class="unseen" id={`${testId}-why`}>
          {why}
        </span>
      )}
      {note && <span class="num">{note}</span>}
    </label>
  );
}
