/** The list of keys that `?` opens. */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";

interface KeysProps {
  readonly keys: readonly (readonly [string, string])[];
  onClose(): void;
}

export function KeysHelp({ keys, onClose }: KeysProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      class="keyshelp"
      ref={dialog}
      aria-label="Keys"
      data-testid="keys-help"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "?") onClose();
      }}
    >
      <header>
        <h1>Keys and pointer</h1>
        <button
          type="button"
          class="ctl bare square"
          title="Close (Esc)"
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <dl>
        {keys.map(([key, what]) => (
          <>
            <dt key={key}>{key}</dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
    </dialog>
  );
}
