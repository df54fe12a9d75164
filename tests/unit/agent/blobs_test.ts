import { assert, assertEquals, assertRejects, assertStringIncludes, fail } from "@std/assert";
import { type FetchChunk, fillBlobs } from "../../../src/agent/blobs.ts";
import { describeError } from "../../../src/text/text.ts";
import { ErrorCode } from "../../../src/protocol/error_codes.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { GetBlobRet } from "../../../src/protocol/resources.ts";
import type { ContentItem } from "../../../src/protocol/tools.ts";

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const sha256 = await digest(bytes);

async function digest(data: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data)).toHex();
}

/** Serves `data` in chunks of 400 bytes. */
function chunkOf(data: Uint8Array, offset: number, checksum = sha256): GetBlobRet {
  const part = data.slice(offset, offset + 400);
  return {
    blob_handle: "h",
    total_size: data.length,
    sha256: checksum,
    chunk_offset: offset,
    eof: offset + 400 >= data.length,
    blob: part.toBase64(),
  };
}

const serveAll: FetchChunk = (_handle, offset) => Promise.resolve(chunkOf(bytes, offset));

function image(meta: Record<string, unknown> = {}): ContentItem {
  return { type: "image", data: "", mimeType: "image/png", _meta: { a2c_blob_handle: "h", ...meta } };
}

async function fill(item: ContentItem, fetchChunk: FetchChunk, maxBytes = 10_000) {
  const failures: string[] = [];
  const result = await fillBlobs({ content: [item] }, {
    fetchChunk,
    maxBytes,
    onFailure: (_handle, error) => void failures.push(describeError(error)),
  });
  return { item: result.content[0], failures };
}

Deno.test("fillBlobs() leaves a result without handles as it is", async () => {
  const result = { content: [{ type: "text" as const, text: "a", _meta: { a2c_blob_handle: "" } }] };
  const options = { fetchChunk: serveAll, maxBytes: 1, onFailure: fail };
  assertEquals(await fillBlobs(result, options), result);
});

Deno.test("fillBlobs() puts an image together chunk by chunk and takes the handle away", async () => {
  const offsets: number[] = [];
  const { item, failures } = await fill(
    image({ a2c_total_size: 1000, a2c_sha256: sha256 }),
    (handle, offset) => {
      offsets.push(offset);
      return serveAll(handle, offset);
    },
  );
  assertEquals(item, { type: "image", mimeType: "image/png", data: bytes.toBase64() });
  assertEquals([offsets, failures], [[0, 400, 800], []]);
});

Deno.test("fillBlobs() keeps metadata that is none of its own", async () => {
  const { item } = await fill(image({ tint: "blue" }), serveAll);
  assertEquals(item?._meta, { tint: "blue" });
});

Deno.test("fillBlobs() fills in an embedded resource", async () => {
  const resource = { uri: "file:///a.bin", blob: "" };
  const { item } = await fill({ type: "resource", resource, _meta: { a2c_blob_handle: "h" } }, serveAll);
  assertEquals(item, { type: "resource", resource: { uri: "file:///a.bin", blob: bytes.toBase64() } });
});

Deno.test("fillBlobs() leaves items without a handle as they are", async () => {
  const text: ContentItem = { type: "text", text: "a", _meta: { x: 1 } };
  assertEquals((await fill(text, serveAll)).item, text);
});

Deno.test("fillBlobs() starts again at 0 when the item changes between two chunks", async () => {
  const older = new Uint8Array(1000);
  const olderSum = await digest(older);
  const offsets: number[] = [];
  const { item } = await fill(image(), (_handle, offset) => {
    offsets.push(offset);
    return Promise.resolve(offsets.length === 1 ? chunkOf(older, offset, olderSum) : chunkOf(bytes, offset));
  });
  assertEquals(item?.data, bytes.toBase64());
  assertEquals(offsets, [0, 400, 0, 400, 800]);
});

Deno.test("fillBlobs() gives up on an item that never matches its checksum", async () => {
  let chunks = 0;
  const { item, failures } = await fill(image({ a2c_sha256: "00" }), (handle, offset) => {
    chunks++;
    return serveAll(handle, offset);
  });
  assertEquals([item, chunks], [image({ a2c_sha256: "00" }), 9]);
  assertStringIncludes(failures[0] ?? "", "checksum");
});

Deno.test("fillBlobs() fetches no more than it is allowed, over all items together", async () => {
  const failures: string[] = [];
  const { content } = await fillBlobs({ content: [image(), image()] }, {
    fetchChunk: serveAll,
    maxBytes: 1500,
    onFailure: (_handle, error) => void failures.push(describeError(error)),
  });
  assertEquals(content.map(({ data }) => data), [bytes.toBase64(), ""]);
  assertEquals(failures.length, 1);
});

Deno.test("fillBlobs() is not held up by a Computer that never comes to an end", async () => {
  const odd: [string, Partial<GetBlobRet>][] = [
    ["an empty chunk", { blob: "" }],
    ["an early end", { eof: true }],
    ["another offset", { chunk_offset: 7 }],
    ["more than total_size", { blob: bytes.toBase64() }],
    ["no base64", { blob: "*" }],
  ];
  for (const [what, change] of odd) {
    const { item, failures } = await fill(
      image(),
      (_handle, offset) =>
        Promise.resolve(offset === 0 ? chunkOf(bytes, 0) : { ...chunkOf(bytes, offset), ...change }),
    );
    assertEquals([what, item?.data, failures.length], [what, "", 1]);
  }
});

Deno.test("fillBlobs() ends when its caller gives up", async () => {
  const reason = new DOMException("enough", "AbortError");
  const filling = fillBlobs({ content: [image()] }, {
    fetchChunk: () => Promise.reject(reason),
    maxBytes: 1000,
    onFailure: (_handle, error) => {
      throw error;
    },
  });
  assertEquals(await assertRejects(() => filling), reason);
});

for (const mark of ["a2c_structured_content", "a2c_answer"]) {
  const costly: [string, string][] = [
    ["levels deep", "[".repeat(300)],
    ["values", `[${"{},".repeat(1_500_000)}0]`],
  ];
  for (const [word, json] of costly) {
    Deno.test(`fillBlobs() refuses JSON with too many ${word} before parsing it, as ${mark}`, async () => {
      const blob = new TextEncoder().encode(json);
      const checksum = await digest(blob);
      const errors: unknown[] = [];
      const item = image({ [mark]: true });
      const result = await fillBlobs({ content: [item] }, {
        fetchChunk: () =>
          Promise.resolve({
            ...chunkOf(blob, 0, checksum),
            blob: blob.toBase64(),
            eof: true,
          }),
        maxBytes: 10_000_000,
        onFailure: (_handle, error) => void errors.push(error),
      });
      assertEquals(result, { content: [item] });
      const [error] = errors;
      assert(error instanceof SmcpError && error.code === ErrorCode.PAYLOAD_TOO_LARGE, String(error));
      assertStringIncludes(error.message, word);
    });
  }
}

Deno.test("fillBlobs() weighs the JSON of all blobs of an answer together", async () => {
  const blob = new TextEncoder().encode(`[${"{},".repeat(1_000_000)}0]`);
  const checksum = await digest(blob);
  const failed: string[] = [];
  const content = [1, 2, 3].map((n) => image({ a2c_blob_handle: `h${n}`, a2c_structured_content: true }));
  const result = await fillBlobs({ content }, {
    fetchChunk: () => Promise.resolve({ ...chunkOf(blob, 0, checksum), blob: blob.toBase64(), eof: true }),
    maxBytes: 10_000_000,
    onFailure: (handle) => void failed.push(handle),
  });
  assertEquals(failed, ["h2", "h3"]);
  assertEquals(result.content, content.slice(1));
});
