import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { isUploadName, Upload, type UploadRequest } from "../../../../src/computer/uploads/upload.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

const sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; // of "hello"
const first = { chunk_offset: 0, eof: false, blob: btoa("he"), total_size: 5, sha256 };
function declare(request: UploadRequest): Upload {
  return new Upload(request, { maxBytes: 10, nowMs: 0 });
}

function refusal(work: () => unknown): SmcpError {
  const error = assertThrows(work, SmcpError);
  assertEquals(error.code, 4019);
  return error;
}

const detailsOf = (work: () => unknown) => refusal(work).details;

/** An upload whose first chunk was written. */
function begun(): Upload {
  const upload = declare(first);
  upload.add(upload.read(first));
  upload.release(0);
  return upload;
}

Deno.test("an upload declares a size of at least 1 and a checksum in 64 lower-case digits", () => {
  const wrong: UploadRequest[] = [
    { total_size: 0 },
    { total_size: 1.5 },
    { total_size: "5" },
    { total_size: null },
    { sha256: sha256.toUpperCase() },
    { sha256: sha256.slice(1) },
    { sha256: undefined },
    { name_hint: 7 },
  ];
  for (const members of wrong) {
    assertEquals(detailsOf(() => declare({ ...first, ...members })), {
      reason: "invalid_declaration",
    });
  }
});

Deno.test("an upload above the limit is refused", () => {
  assertEquals(detailsOf(() => declare({ ...first, total_size: 11 })), {
    reason: "too_large",
    total_size: 11,
  });
});

Deno.test("a further chunk has no declaration, and the upload goes on", () => {
  const upload = begun();
  for (const members of [{ total_size: 5 }, { sha256 }, { name_hint: "" }]) {
    assertEquals(detailsOf(() => upload.take(members)), { reason: "invalid_declaration" });
  }
  upload.take({ total_size: null, name_hint: null });
});

Deno.test("a chunk is refused while another one of the upload is being written", () => {
  const upload = begun();
  upload.take({});
  assertEquals(detailsOf(() => upload.take({})), { reason: "range" });
  upload.release(0);
  upload.take({});
});

Deno.test("read() checks offset, base64 and the declared end in this order", () => {
  const upload = begun();
  const reasonOf = (members: UploadRequest) => {
    const error = refusal(() => upload.read({ chunk_offset: 2, eof: false, blob: btoa("llo"), ...members }));
    return [error.details?.["reason"], upload.isEnded];
  };
  assertEquals(reasonOf({ chunk_offset: 0, blob: "?" }), ["range", false]);
  assertEquals(reasonOf({ chunk_offset: undefined }), ["range", false]);
  for (const blob of ["?", "bGxvIQ", "bGxv\n", "bGx_", 7, undefined]) {
    assertEquals(reasonOf({ blob }), ["invalid_declaration", false]);
  }
  assertEquals(reasonOf({ eof: 1 }), ["invalid_declaration", false]);
  assertEquals(reasonOf({ blob: btoa("ll"), eof: true }), ["range", false]);
  assertEquals(reasonOf({ blob: btoa("llo!") }), ["range", true]);
});

Deno.test("an upload is whole when its bytes have the declared checksum", () => {
  const upload = begun();
  const last = upload.read({ chunk_offset: 2, eof: true, blob: btoa("llo") });
  assertEquals([last.isLast, last.offset], [true, 2]);
  upload.add(last);
  upload.assertWhole();

  const wrong = begun();
  wrong.add(wrong.read({ chunk_offset: 2, eof: true, blob: btoa("LLO") }));
  assertEquals(detailsOf(() => wrong.assertWhole()), { reason: "integrity" });
});

Deno.test("the name of a file is its id and what is allowed of the hint", () => {
  const nameOf = (name_hint: unknown) => {
    const { id, fileName } = declare({ ...first, name_hint });
    assertMatch(id, /^[0-9a-f]{32}$/);
    assertEquals([fileName.startsWith(id), isUploadName(fileName)], [true, true]);
    return fileName.slice(id.length);
  };
  assertEquals(nameOf("a b/..c.txt"), "_a_b_..c.txt");
  assertEquals(nameOf("  ../../etc/passwd "), "_etc_passwd");
  assertEquals(nameOf("ä.png"), "_png");
  assertEquals(["", "  ", "...", undefined, null].map(nameOf), ["", "", "", "", ""]);
  assertEquals(nameOf("x".repeat(100)), `_${"x".repeat(64)}`);
});
