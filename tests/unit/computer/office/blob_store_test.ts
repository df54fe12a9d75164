import { assert, assertEquals, assertThrows } from "@std/assert";
import { type BlobMark, BlobStore, OfficeBlobs } from "../../../../src/computer/office/blob_store.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

function part(fill: number, length = 100) {
  return { bytes: new Uint8Array(length).fill(fill), mimeType: "image/png" };
}

function keep(blobs: OfficeBlobs, ...parts: { bytes: Uint8Array<ArrayBuffer>; mimeType: string }[]) {
  return blobs.keep(parts, { isOfCall: true });
}

function readAll(blobs: OfficeBlobs, mark: BlobMark | undefined) {
  return blobs.read({ handle: mark?.a2c_blob_handle ?? "", offset: 0, maxBytes: 1_000 });
}

function reasonOf(read: () => unknown): unknown {
  const error = assertThrows(read, SmcpError);
  assertEquals(error.code, 4018);
  return error.details?.["reason"];
}

Deno.test("a blob is handed out in the chunks that are asked for", () => {
  const blobs = new OfficeBlobs({ maxBlobBytes: 1_000, blobLifetimeMs: 1_000 });
  const [mark] = keep(blobs, part(7, 10)) ?? [];
  assertEquals(mark?.a2c_total_size, 10);
  const handle = mark?.a2c_blob_handle ?? "";
  const chunk = blobs.read({ handle, offset: 4, maxBytes: 4 });
  assertEquals([chunk.blob, chunk.chunk_offset, chunk.eof], [new Uint8Array(4).fill(7).toBase64(), 4, false]);
  assertEquals([chunk.total_size, chunk.sha256], [10, mark?.a2c_sha256]);
  const end = blobs.read({ handle, offset: 10, maxBytes: 4 });
  assertEquals([end.blob, end.eof], ["", true]);
  assertEquals(reasonOf(() => blobs.read({ handle, offset: 11, maxBytes: 4 })), "range");
  assertEquals(reasonOf(() => blobs.read({ handle, offset: -1, maxBytes: 4 })), "range");
  blobs.end();
});

Deno.test("the same bytes are kept once", () => {
  const blobs = new OfficeBlobs({ maxBlobBytes: 250, blobLifetimeMs: 1_000 });
  const [first, again] = [keep(blobs, part(1)), keep(blobs, part(1))];
  assertEquals(first, again);
  assert(keep(blobs, part(2)) !== undefined);
  blobs.end();
});

Deno.test("the store takes no more than its bound, all parts of an answer or none", () => {
  const blobs = new OfficeBlobs({ maxBlobBytes: 250, blobLifetimeMs: 1_000 });
  assertEquals(keep(blobs, part(1), part(2), part(3)), undefined);
  const marks = keep(blobs, part(1), part(2));
  assertEquals([marks?.length, keep(blobs, part(3))], [2, undefined]);
  readAll(blobs, marks?.[0]);
  assert(
    keep(blobs, part(3)) !== undefined,
    "what was read to its end goes when there is need for room",
  );
  assertEquals(reasonOf(() => readAll(blobs, marks?.[0])), "gone");
  readAll(blobs, marks?.[1]);
  blobs.end();
});

Deno.test("the bound holds for answers that are kept at the same time", async () => {
  const blobs = new OfficeBlobs({ maxBlobBytes: 250, blobLifetimeMs: 1_000 });
  const kept = await Promise.all([1, 2, 3, 4].map((fill) => keep(blobs, part(fill))));
  assertEquals(kept.filter((marks) => marks !== undefined).length, 2);
  blobs.end();
});

Deno.test("a blob that nobody asks for expires, and one that is being read does not", () => {
  let nowMs = 0;
  const blobs = new OfficeBlobs({ maxBlobBytes: 200, blobLifetimeMs: 1_000 }, () => nowMs);
  const marks = keep(blobs, part(1), part(2));
  nowMs = 900;
  readAll(blobs, marks?.[0]);
  nowMs = 1_100;
  readAll(blobs, marks?.[0]);
  assertEquals(reasonOf(() => readAll(blobs, marks?.[1])), "gone");
  assert(keep(blobs, part(3)) !== undefined);
  blobs.end();
});

Deno.test("while a part of an answer is being read, the parts after it do not expire", () => {
  let nowMs = 0;
  const blobs = new OfficeBlobs({ maxBlobBytes: 400, blobLifetimeMs: 1_000 }, () => nowMs);
  const [first, second] = keep(blobs, part(1), part(2)) ?? [];
  const [other] = keep(blobs, part(3)) ?? [];
  const handle = first?.a2c_blob_handle ?? "";
  for (const offset of [0, 25, 50, 75]) {
    nowMs += 400;
    blobs.read({ handle, offset, maxBytes: 25 });
  }
  nowMs += 400;
  assertEquals(readAll(blobs, second).eof, true);
  assertEquals(reasonOf(() => readAll(blobs, other)), "gone");
  blobs.end();
});

Deno.test("a blob of which only the end was read makes no room", () => {
  const blobs = new OfficeBlobs({ maxBlobBytes: 150, blobLifetimeMs: 1_000 });
  const [mark] = keep(blobs, part(1)) ?? [];
  const handle = mark?.a2c_blob_handle ?? "";
  assertEquals(blobs.read({ handle, offset: 50, maxBytes: 50 }).eof, true);
  assertEquals(keep(blobs, part(2)), undefined);
  blobs.read({ handle, offset: 0, maxBytes: 50 });
  assert(keep(blobs, part(2)) !== undefined);
  blobs.end();
});

Deno.test("whoever leaves an office ends its handles, and nothing more is kept for it", () => {
  const store = new BlobStore({ maxBlobBytes: 250, blobLifetimeMs: 1_000 });
  const before = store.office;
  const [mark] = keep(before, part(1)) ?? [];
  store.forgetAgent();
  assertEquals(reasonOf(() => readAll(store.office, mark)), "invalid_handle");
  assertEquals(reasonOf(() => readAll(before, mark)), "invalid_handle");
  assertEquals(keep(before, part(3)), undefined);
  assert(keep(store.office, part(1), part(2)) !== undefined);
  store.forgetAgent();
});
