/** Hears from the server what has changed: by one connection a browser, shared by all frames that listen. */

import { type ReadonlySignal, signal } from "@preact/signals";

/** Where the server stands. What came before was not heard. */
export interface Hello {
  readonly server: string;
  readonly generation: number;
}

/** `runs` holds the generations of those that changed. */
export interface Changed {
  readonly generation: number;
  readonly runs: Readonly<Record<string, number>>;
}

export interface Listener {
  hello(stand: Hello): void;
  changed(news: Changed): void;
}

export interface Stream {
  /** Whether news comes by itself now. */
  readonly up: ReadonlySignal<boolean>;
  /** The newest generation that was heard of. */
  generation(): number;
  /** Listens to the server of this id, and to none before it. */
  join(server: string): void;
  leave(): void;
}

/** What of the browser we use; tests hand in their own. */
export interface Means {
  readonly locks: Pick<LockManager, "request">;
  channel(name: string): BroadcastChannel;
  source(url: string): EventSource;
  /** Where relative addresses lead from here. */
  readonly base: string;
}

/** A leader says this often that it is there. One that was silent for twice as long and some is not. */
const ALIVE_MS = 10_000;
const SILENT_MS = 25_000;
/** After a refusal: as many browsers listen as may. */
const AGAIN_MS = 30_000;

type Message =
  | ({ readonly kind: "hello" } & Hello)
  | ({ readonly kind: "changed" } & Changed)
  | { readonly kind: "alive" | "down" | "who" };

/** Null where the browser gives no locks, as to plain http from another host, or lacks something else. */
export function browserMeans(): Means | null {
  const locks = globalThis.navigator?.locks;
  if (!locks || !globalThis.BroadcastChannel || !globalThis.EventSource) return null;
  return {
    locks,
    channel: (name) => new BroadcastChannel(name),
    source: (url) => new EventSource(url),
    base: document.baseURI,
  };
}

/**
 * The stream at `path`. Of the frames that joined, the one that holds a lock has the connection and
 * passes on what it hears; the next one takes over when it leaves. Without `means` it never is up.
 */
export function createStream(path: string, listener: Listener, means: Means | null): Stream {
  const up = signal(false);
  let generation = 0;
  let joined: { readonly server: string; leave(): void } | null = null;
  let silence: ReturnType<typeof setTimeout> | undefined;

  const fall = () => {
    clearTimeout(silence);
    up.value = false;
  };
  const rise = () => {
    clearTimeout(silence);
    silence = setTimeout(fall, SILENT_MS);
    up.value = true;
  };

  function hear(message: Message, server: string): void {
    switch (message.kind) {
      case "hello":
        generation = message.generation;
        // Another process answers there now. Whoever asks it learns its id and joins anew.
        if (message.server === server) rise();
        else fall();
        listener.hello(message);
        break;
      case "changed":
        generation = message.generation;
        rise();
        listener.changed(message);
        break;
      case "alive":
        rise();
        break;
      case "down":
        fall();
        break;
      case "who":
        break;
    }
  }

  function join(server: string, { locks, channel: open, source, base }: Means): () => void {
    const { href, pathname } = new URL(path, base);
    const name = `zentracer ${pathname} ${server}`;
    const channel = open(name);
    const left = new AbortController();
    let leads = false;
    const tell = (message: Message) => {
      hear(message, server);
      channel.postMessage(message);
    };
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind !== "who") hear(data, server);
      else if (leads && up.peek()) channel.postMessage({ kind: "hello", server, generation });
    };
    channel.postMessage({ kind: "who" });
    const lead = async () => {
      leads = !left.signal.aborted;
      if (leads)
        await listen(
          () => source(href),
          tell,
          () => up.peek(),
          left.signal,
        );
    };
    locks.request(name, { signal: left.signal }, lead).catch(() => {}); // left before it was our turn
    return () => {
      left.abort();
      if (leads) channel.postMessage({ kind: "down" });
      channel.close();
      fall();
    };
  }

  return {
    up,
    generation: () => generation,
    join(server) {
      if (!means || joined?.server === server) return;
      joined?.leave();
      joined = { server, leave: join(server, means) };
    },
    leave() {
      joined?.leave();
      joined = null;
    },
  };
}

/** Keeps a connection and tells what it brings, until `left`. The browser itself renews one that broke. */
function listen(
  open: () => EventSource,
  tell: (message: Message) => void,
  isUp: () => boolean,
  left: AbortSignal,
): Promise<void> {
  let source: EventSource;
  let again: ReturnType<typeof setTimeout> | undefined;
  const connect = () => {
    source = open();
    for (const kind of ["hello", "changed"] as const)
      source.addEventListener(kind, ({ data }: MessageEvent<string>) => tell({ ...JSON.parse(data), kind }));
    source.onerror = () => {
      tell({ kind: "down" });
      if (source.readyState === source.CLOSED) again = setTimeout(connect, AGAIN_MS);
    };
  };
  const alive = setInterval(() => isUp() && tell({ kind: "alive" }), ALIVE_MS);
  connect();
  return new Promise((resolve) => {
    left.addEventListener("abort", () => {
      source.close();
      clearTimeout(again);
      clearInterval(alive);
      resolve();
    });
  });
}
