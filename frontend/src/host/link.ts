/** Keeps a view in TensorBoard's address, so that a link opens it again: `#tab&p.<plugin>.<key>=<value>`. */

import { type HostWindow, withParent } from "./parent.ts";

export type Values = Readonly<Record<string, string>>;

/** The entries of `hash` whose keys begin with `prefix`, without it. */
export function parseHash(hash: string, prefix: string): Values {
  const values: Record<string, string> = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [key, value] = part.split("=");
    if (value === undefined || !key) continue;
    try {
      const name = decodeURIComponent(key);
      if (name.startsWith(prefix)) values[name.slice(prefix.length)] = decodeURIComponent(value);
    } catch {} // half an escape, typed or cut by hand: that entry is not ours to read
  }
  return values;
}

/** `hash` with the entry `key` set, or removed where `value` is empty; everything else stays as it stands. */
export function withEntry(hash: string, key: string, value: string): string {
  const name = encodeURIComponent(key);
  const parts = hash.replace(/^#/, "").split("&");
  const others = parts.filter((part) => part && !part.startsWith(`${name}=`));
  return `#${[...others, ...(value ? [`${name}=${encodeURIComponent(value)}`] : [])].join("&")}`;
}

export interface Link {
  read(): Values;
  /** Sets every key of `values`; an empty value leaves the address. */
  write(values: Values): void;
}

/** The link of `plugin`. Without a page around us that lets us in, it remembers nothing. */
export function pluginLink(
  plugin: string,
  reach: <T>(use: (page: HostWindow) => T, otherwise: T) => T = withParent,
): Link {
  const prefix = `p.${plugin}.`;
  let written: Record<string, string> = {};
  return {
    read() {
      const values = reach((page) => parseHash(page.location.hash, prefix), {});
      written = { ...values };
      return values;
    },
    write(values) {
      for (const [key, value] of Object.entries(values)) {
        if ((written[key] ?? "") === value) continue;
        written[key] = value;
        reach((page) => setEntry(page, prefix + key, value), undefined);
      }
    },
  };
}

/** TensorBoard's own storage where it is, since it also keeps what it read of the address. */
function setEntry(page: HostWindow, key: string, value: string): void {
  const storage = page.tensorboard?.tf_storage;
  if (storage) storage.setString(key, value, { defaultValue: "", useLocationReplace: true });
  else page.history.replaceState(page.history.state, "", withEntry(page.location.hash, key, value));
}
