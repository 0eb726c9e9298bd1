/** Something that is on or off, named by its own text. */

interface Props {
  readonly label: string;
  readonly on: boolean;
  readonly testId: string;
  readonly title?: string;
  onChange(on: boolean): void;
}

export function Switch({ label, on, testId, title, onChange }: Props) {
  return (
    <button
      type="button"
      class="ctl bare"
      role="switch"
      aria-checked={on}
      data-testid={testId}
      title={title}
      onClick={() => onChange(!on)}
    >
      {label}
      <i class={on ? "switch" : "switch off"} aria-hidden="true" />
    </button>
  );
}
