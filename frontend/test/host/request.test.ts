import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Gone, getColumns, getJson, Refused, repeated } from "../../src/host/request.ts";
import { packed } from "../answers.ts";

async function served(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/runs`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("an answer is its JSON", () =>
  served(
    (_, response) => response.end('{"runs":[]}'),
    async (url) => assert.deepEqual(await getJson(url), { runs: [] }),
  ));

test("a refusal carries the server's sentence", () =>
  served(
    (_, response) => {
      response.writeHead(404);
      response.end('{"error":"There is no run \'x\' here."}');
    },
    (url) =>
      assert.rejects(getJson(url), (error) => error instanceof Refused && /no run 'x'/.test(error.message)),
  ));

test("an answer that will come later is no refusal, and carries the server's sentence", () =>
  served(
    (_, response) => {
      response.writeHead(503);
      response.end('{"error":"The cached columns are gone. They are read again from the log."}');
    },
    (url) =>
      assert.rejects(
        getJson(url),
        (error) => error instanceof Gone && /^The cached columns are gone\./.test(error.message),
      ),
  ));

test("an error page of somebody else is no answer of ours", () =>
  served(
    (_, response) => {
      response.writeHead(502);
      response.end("<h1>Bad gateway</h1>");
    },
    (url) =>
      assert.rejects(
        getJson(url),
        (error) => error instanceof Gone && error.message === "TensorBoard answers 502 instead of data.",
      ),
  ));

test("a server that is not there does not answer", async () => {
  let dead = "";
  await served(
    () => undefined,
    async (url) => {
      dead = url;
    },
  );
  await assert.rejects(
    getJson(dead),
    (error) => error instanceof Gone && error.message === "TensorBoard does not answer.",
  );
});

test("an answer that breaks off is told as such", () =>
  served(
    (_, response) => response.end('{"runs":['),
    (url) =>
      assert.rejects(getJson(url), (error) => error instanceof Gone && /broke off/.test(error.message)),
  ));

test("columns arrive unpacked", () =>
  served(
    (_, response) => {
      const values = new Uint8Array(Float32Array.of(1, Number.NaN).buffer);
      response.end(new Uint8Array(packed({ run: "a" }, { mean: { dtype: "<f4", shape: [2], values } })));
    },
    async (url) => {
      const { header, arrays } = await getColumns(url);
      assert.equal(header.run, "a");
      assert.deepEqual(arrays.get("mean"), Float32Array.of(1, Number.NaN));
    },
  ));

test("a repeated question sends the tag it was given, and undefined means nothing new", () => {
  const tags: (string | undefined)[] = [];
  return served(
    (request, response) => {
      tags.push(request.headers["if-none-match"]);
      response.setHeader("ETag", tags.length < 3 ? '"one"' : '"two"');
      response.statusCode = tags.length === 2 ? 304 : 200;
      response.end(tags.length === 2 ? undefined : JSON.stringify({ n: tags.length }));
    },
    async (url) => {
      const ask = repeated<{ n: number }>(url);
      assert.deepEqual(await ask(), { n: 1 });
      assert.equal(await ask(), undefined);
      assert.deepEqual(await ask(), { n: 3 });
      assert.deepEqual(tags, [undefined, '"one"', '"one"']);
    },
  );
});
