import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  isUploadName,
  type Upload,
  type UploadRequest,
  UploadSessions,
} from "../../../../src/computer/uploads/sessions.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

const sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; // of "hello"
const first = { chunk_offset: 0, eof: false, blob: btoa("he"), total_size: 5, sha256 };
const limits = { maxBytes: 10, maxConcurrent: 2, idleMs: 1_000 };

function open(): { sessions: UploadSessions; pass: (ms: number) => void } {
  let nowMs = 0;
  return { sessions: new UploadSessions(limits, () => nowMs), pass: (ms) => void (nowMs += ms) };
}

function refusal(work: () => unknown): SmcpError {
  const error = assertThrows(work, SmcpError);
  assertEquals(error.code, 4019);
  return error;
}

const detailsOf = (work: () => unknown) => refusal(work).details;

/** An upload whose first chunk was written. */
function begun(sessions: UploadSessions): Upload {
  const upload = sessions.declare(first);
  upload.add(upload.read(first));
  sessions.release(upload);
  return upload;
}

Deno.test("declare() takes a size of at least 1 and a checksum in 64 lower-case digits", () => {
  const { sessions } = open();
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
    assertEquals(detailsOf(() => sessions.declare({ ...first, ...members })), {
      reason: "invalid_declaration",
    });
  }
  assertEquals(sessions.open, []);
});

Deno.test("declare() refuses a file above the limit, and one more than may be open", () => {
  const { sessions } = open();
  assertEquals(detailsOf(() => sessions.declare({ ...first, total_size: 11 })), {
    reason: "too_large",
    total_size: 11,
  });
  begun(sessions);
  const second = sessions.declare({ ...first, total_size: 10 });
  assertEquals(detailsOf(() => sessions.declare(first)), { reason: "busy" });
  sessions.end(second);
  sessions.declare(first);
});

Deno.test("find() refuses an unknown upload before it looks at anything else", () => {
  const { sessions } = open();
  assertEquals(detailsOf(() => sessions.find({ ...first, upload_id: "x" })), {
    reason: "invalid_upload",
    upload_id: "x",
  });
  assertEquals(detailsOf(() => sessions.find({ upload_id: 7 })), { reason: "invalid_upload" });
  const { upload_id } = detailsOf(() => sessions.find({ upload_id: "x".repeat(10_000) })) ?? {};
  assertEquals(String(upload_id).length < 100, true);
});

Deno.test("find() refuses a declaration in a further chunk, and the upload goes on", () => {
  const { sessions } = open();
  const { id: upload_id } = begun(sessions);
  for (const members of [{ total_size: 5 }, { sha256 }, { name_hint: "" }]) {
    assertEquals(detailsOf(() => sessions.find({ upload_id, ...members })), {
      reason: "invalid_declaration",
    });
  }
  assertEquals(sessions.find({ upload_id, total_size: null, name_hint: null }).id, upload_id);
});

Deno.test("find() refuses a chunk while another one of the upload is being written", () => {
  const { sessions } = open();
  const upload = begun(sessions);
  sessions.find({ upload_id: upload.id });
  assertEquals(detailsOf(() => sessions.find({ upload_id: upload.id })), { reason: "range" });
  sessions.release(upload);
  sessions.find({ upload_id: upload.id });
});

Deno.test("read() checks offset, base64 and the declared end in this order", () => {
  const { sessions } = open();
  const upload = begun(sessions);
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
  const { sessions } = open();
  const upload = begun(sessions);
  const last = upload.read({ chunk_offset: 2, eof: true, blob: btoa("llo") });
  assertEquals([last.isLast, last.offset], [true, 2]);
  upload.add(last);
  upload.assertWhole();

  const wrong = begun(sessions);
  wrong.add(wrong.read({ chunk_offset: 2, eof: true, blob: btoa("LLO") }));
  assertEquals(detailsOf(() => wrong.assertWhole()), { reason: "integrity" });
});

Deno.test("expire() ends uploads without a chunk for too long, but not while one is written", () => {
  const { sessions, pass } = open();
  const upload = begun(sessions);
  const written = sessions.declare(first);
  pass(1_000);
  assertEquals(sessions.expire(), []);
  pass(1);
  assertEquals(sessions.expire(), [upload]);
  assertEquals([upload.isEnded, written.isEnded], [true, false]);
  assertEquals(detailsOf(() => sessions.find({ upload_id: upload.id })), {
    reason: "invalid_upload",
    upload_id: upload.id,
  });
});

Deno.test("the name of a file is its id and what is allowed of the hint", () => {
  const nameOf = (name_hint: unknown) => {
    const { id, fileName } = open().sessions.declare({ ...first, name_hint });
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
