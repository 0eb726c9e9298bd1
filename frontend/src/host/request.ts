/** Asks our routes, and tells an answer of no from no answer. */

import { type Columns, decodeColumns } from "../base/columns.ts";

/** Of a server that will have the answer later. */
const NOT_NOW = 503;

/** The server understood and refuses; the message is its sentence. */
export class Refused extends Error {}

/** Nothing came back, or not from us: TensorBoard stopped, a proxy stands in the way, the data server died. */
export class Gone extends Error {}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, { cache: "no-cache", ...(signal && { signal }) });
  return body(path, () => response.json());
}

export async function getColumns(path: string, signal?: AbortSignal): Promise<Columns> {
  const response = await ask(path, { cache: "no-cache", ...(signal && { signal }) });
  return decodeColumns(await body(path, () => response.arrayBuffer()));
}

/** A question that is repeated: `undefined` as long as the answer stays the one it had before. */
export function repeated<T>(path: string): () => Promise<T | undefined> {
  let etag: string | null = null;
  return async () => {
    const response = await ask(path, { cache: "no-store", headers: etag ? { "If-None-Match": etag } : {} });
    if (response.status === 304) return undefined;
    const answer = await body(path, () => response.json());
    etag = response.headers.get("ETag");
    return answer as T;
  };
}

async function ask(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Gone("TensorBoard does not answer.");
  }
  if (response.ok || response.status === 304) return response;
  const sentence = await response
    .json()
    .then((answer) => (typeof answer?.error === "string" ? (answer.error as string) : ""))
    .catch(() => "");
  if (sentence && response.status !== NOT_NOW) throw new Refused(sentence);
  throw new Gone(sentence || `TensorBoard answers ${response.status} instead of data.`);
}

async function body<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new Gone(`TensorBoard's answer to '${path.split("?")[0]}' broke off.`);
  }
}
