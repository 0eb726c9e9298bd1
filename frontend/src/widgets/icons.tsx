/** The few drawings that controls carry. They are decoration: every control also has words. */

const PATHS = {
  search: "M10.2 10.2 13.5 13.5M11.2 7a4.2 4.2 0 1 1-8.4 0 4.2 4.2 0 0 1 8.4 0z",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  link: "M6.5 9.5l3-3M7 4.8l1.4-1.4a2.6 2.6 0 0 1 3.7 3.7L10.8 8.5M9 11.2l-1.4 1.4a2.6 2.6 0 0 1-3.7-3.7L5.2 7.5",
  side: "M4 3h8a1.5 1.5 0 0 1 1.5 1.5v7A1.5 1.5 0 0 1 12 13H4a1.5 1.5 0 0 1-1.5-1.5v-7A1.5 1.5 0 0 1 4 3zM6.5 3v10",
  copy: "M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5zM10.5 5.5v-3h-8v8h3",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  warn: "M8 2.5 14 13H2zM8 6.5v3M8 11.3v.2",
} as const;

const SOLID = {
  more: "M2.5 8a1.2 1.2 0 1 0 2.4 0 1.2 1.2 0 1 0-2.4 0M6.8 8a1.2 1.2 0 1 0 2.4 0 1.2 1.2 0 1 0-2.4 0M11.1 8a1.2 1.2 0 1 0 2.4 0 1.2 1.2 0 1 0-2.4 0",
  first: "M3 2.5h2v11H3zM13 2.5v11L6 8z",
  previous: "M11.5 2.5v11L4.5 8z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  next: "M4.5 2.5v11l7-5.5z",
  last: "M11 2.5h2v11h-2zM3 2.5v11l7-5.5z",
} as const;

export type IconName = keyof typeof PATHS | keyof typeof SOLID;

export function Icon({ name }: { name: IconName }) {
  const solid = name in SOLID;
  return (
    <svg class={solid ? "icon solid" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={solid ? SOLID[name as keyof typeof SOLID] : PATHS[name as keyof typeof PATHS]} />
    </svg>
  );
}

/** Points down where something is open, right where it is folded. */
export function Triangle({ open }: { open: boolean }) {
  return (
    <svg class="triangle" viewBox="0 0 10 10" aria-hidden="true">
      <path d={open ? "M1 2.5h8L5 8z" : "M2.5 1v8L8 5z"} />
    </svg>
  );
}
