/** A browser as far as `host/stream.ts` uses it, whose event streams the tests feed. */

import type { Means } from "../src/host/stream.ts";

/** One browser: locks as the platform has them, channels that deliver at once, and connections that the test feeds. */
export class Browser {
  readonly sources: Source[] = [];
  private readonly queues = new Map<string, (() => Promise<void>)[]>();
  private readonly channels: Channel[] = [];

  readonly means: Means = {
    locks: { request: this.request.bind(this) } as unknown as LockManager,
    channel: (name) => {
      const channel = new Channel(name, this.channels);
      this.channels.push(channel);
      return channel as unknown as BroadcastChannel;
    },
    source: (url) => {
      const source = new Source(url);
      this.sources.push(source);
      return source as unknown as EventSource;
    },
    base: "http://host/prefix/data/plugin/x/",
  };

  get open(): Source[] {
    return this.sources.filter((source) => source.readyState !== Source.CLOSED);
  }

  private request(
    name: string,
    { signal }: { signal: AbortSignal },
    use: () => Promise<void>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(name) ?? [];
      this.queues.set(name, queue);
      const turn = async () => {
        signal.removeEventListener("abort", give);
        await use();
        resolve();
        queue.shift();
        void queue[0]?.();
      };
      const give = () => {
        queue.splice(queue.indexOf(turn), 1);
        reject(new DOMException("left", "AbortError"));
      };
      signal.addEventListener("abort", give);
      if (queue.push(turn) === 1) void turn();
    });
  }
}

class Channel {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor(
    private readonly name: string,
    private readonly all: Channel[],
  ) {}
  postMessage(data: unknown): void {
    for (const other of this.all)
      if (other !== this && other.name === this.name) other.onmessage?.({ data: structuredClone(data) });
  }
  close(): void {
    this.all.splice(this.all.indexOf(this), 1);
  }
}

class Source extends EventTarget {
  static readonly CLOSED = 2;
  readonly CLOSED = 2;
  readyState = 0;
  onerror: (() => void) | null = null;
  constructor(readonly url: string) {
    super();
  }
  says(kind: string, content: unknown): void {
    this.readyState = 1;
    this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(content) }));
  }
  breaks(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
  close(): void {
    this.readyState = Source.CLOSED;
  }
}
