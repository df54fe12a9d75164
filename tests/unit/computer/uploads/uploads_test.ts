import { assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { type UploadOptions, Uploads } from "../../../../src/computer/uploads/uploads.ts";
import { silentLogger } from "../../../../src/log.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import type { PutBlobRet } from "../../../../src/protocol/uploads.ts";

const HOUR_MS = 60 * 60 * 1000;
const onPosix = { ignore: Deno.build.os === "windows" };

async function digest(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Uploads to a folder of its own, with clocks that the test moves. */
class World implements AsyncDisposable {
  readonly #root: string;
  readonly folder: string;
  readonly parts: string;
  readonly #open: Uploads[] = [];
  passedMs = 0;

  private constructor(root: string) {
    this.#root = root;
    this.folder = join(root, "uploads");
    this.parts = join(this.folder, ".a2c-upload");
  }

  static async open(): Promise<World> {
    return new World(await Deno.realPath(await Deno.makeTempDir()));
  }

  get outside(): string {
    return join(this.#root, "outside");
  }

  uploads(options: Partial<UploadOptions> = {}): Uploads {
    const uploads = new Uploads({
      options: { folder: this.folder, ...options },
      rules: { takesUploads: true },
      log: silentLogger,
      now: () => this.passedMs,
      date: () => Date.now() + this.passedMs,
    });
    this.#open.push(uploads);
    return uploads;
  }

  /** The names of the files in the folder, but for the folder of parts. */
  files(): string[] {
    return namesIn(this.folder).filter((name) => name !== ".a2c-upload");
  }

  /** The parts of open uploads. */
  partFiles(): string[] {
    return namesIn(this.parts).filter((name) => name.endsWith(".part"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const uploads of this.#open) await uploads.close();
    await Deno.remove(this.#root, { recursive: true });
  }
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** A first chunk of `text`: its first `length` characters. */
async function first(text: string, length = text.length, name_hint?: string) {
  const blob = btoa(text.slice(0, length));
  const declaration = { total_size: text.length, sha256: await digest(text), name_hint };
  return { chunk_offset: 0, eof: length === text.length, blob, ...declaration };
}

async function send(uploads: Uploads, text: string, name?: string): Promise<PutBlobRet> {
  return await uploads.put(await first(text, text.length, name));
}

async function detailsOf(request: Promise<unknown>): Promise<unknown> {
  const error = await assertRejects(() => request, SmcpError);
  assertEquals(error.code, 4019);
  return error.details;
}

Deno.test("an upload lands under its id and name, and only its owner may read it", async () => {
  await using world = await World.open();
  const uploads = world.uploads();
  const middle = await uploads.put(await first("hello", 2, "a.txt"));
  const { upload_id } = middle;
  assertEquals(middle, { upload_id, chunk_offset: 0 });
  assertEquals(world.files(), []);
  const last = await uploads.put({ upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") });
  const landing_path = join(world.folder, `${upload_id}_a.txt`);
  assertEquals(last, {
    upload_id,
    chunk_offset: 2,
    landing_path,
    total_size: 5,
    sha256: await digest("hello"),
  });
  assertEquals(await Deno.readTextFile(landing_path), "hello");
  assertEquals(world.partFiles(), []);
  if (Deno.build.os === "windows") return;
  const modes = [landing_path, world.folder, world.parts].map((path) =>
    (Deno.statSync(path).mode ?? 0) & 0o777
  );
  assertEquals(modes, [0o600, 0o700, 0o700]);
});

Deno.test("a refused chunk leaves an upload open, and a failed upload leaves nothing", async () => {
  await using world = await World.open();
  const uploads = world.uploads();
  const { upload_id } = await uploads.put(await first("hello", 2));
  const next = { upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") };
  assertEquals(await detailsOf(uploads.put({ ...next, chunk_offset: 3 })), { reason: "range" });
  assertEquals(await detailsOf(uploads.put({ ...next, blob: "?" })), { reason: "invalid_declaration" });
  assertEquals(await detailsOf(uploads.put({ ...next, blob: btoa("ll") })), { reason: "range" });
  assertEquals(await detailsOf(uploads.put({ ...next, sha256: "" })), { reason: "invalid_declaration" });
  assertEquals(await detailsOf(uploads.put({ ...next, blob: btoa("LLO") })), { reason: "integrity" });
  const gone = { reason: "invalid_upload", upload_id };
  assertEquals(await detailsOf(uploads.put(next)), gone);
  await uploads.quiet();
  assertEquals([world.files(), world.partFiles()], [[], []]);

  const { upload_id: other } = await uploads.put(await first("hello", 2));
  const surplus = { upload_id: other, chunk_offset: 2, eof: false, blob: btoa("llo!") };
  assertEquals(await detailsOf(uploads.put(surplus)), { reason: "range" });
  assertEquals(await detailsOf(uploads.put(surplus)), { ...gone, upload_id: other });
});

Deno.test("a first chunk that is refused takes no place", async () => {
  await using world = await World.open();
  const uploads = world.uploads({ maxConcurrent: 1 });
  const request = await first("hello", 2);
  assertEquals(await detailsOf(uploads.put({ ...request, chunk_offset: 1 })), { reason: "range" });
  assertEquals(await detailsOf(uploads.put({ ...request, eof: true })), { reason: "range" });
  await uploads.put(request);
  assertEquals(await detailsOf(uploads.put(request)), { reason: "busy" });
});

Deno.test("chunks of one upload that come together are not mixed, and uploads side by side are", async () => {
  await using world = await World.open();
  const uploads = world.uploads();
  const { upload_id } = await uploads.put(await first("hello", 2));
  const next = { upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") };
  const together = await Promise.allSettled([uploads.put(next), uploads.put(next)]);
  assertEquals(together.map(({ status }) => status), ["fulfilled", "rejected"]);
  const texts = ["one", "two", "three", "four"];
  const landed = await Promise.all(texts.map((text) => send(uploads, text)));
  const read = landed.map(({ landing_path = "" }) => Deno.readTextFileSync(landing_path));
  assertEquals(read, texts);
});

Deno.test("an upload that nobody continues ends, and gives its place back", async () => {
  await using world = await World.open();
  const uploads = world.uploads({ maxConcurrent: 1, idleMs: 1_000 });
  const { upload_id } = await uploads.put(await first("hello", 2));
  world.passedMs += 1_001;
  await send(uploads, "other");
  await uploads.quiet();
  assertEquals(world.partFiles(), []);
  assertEquals(await detailsOf(uploads.put({ upload_id, chunk_offset: 2, eof: false, blob: "" })), {
    reason: "invalid_upload",
    upload_id,
  });
});

Deno.test("the folder has bounds in files and in bytes, with open uploads counted", async () => {
  await using world = await World.open();
  const uploads = world.uploads({ maxFiles: 2, maxTotalBytes: 100 });
  await send(uploads, "x".repeat(50));
  await uploads.put(await first("y".repeat(40), 1));
  assertEquals(await detailsOf(send(uploads, "z")), { reason: "too_large", total_size: 1 });
  uploads.endAgent();
  await uploads.quiet();
  assertEquals(await detailsOf(send(uploads, "z".repeat(51))), { reason: "too_large", total_size: 51 });
  await send(uploads, "z".repeat(50));
});

Deno.test("uploads expire, also those of an earlier process, and no other file does", async () => {
  await using world = await World.open();
  const earlier = world.uploads();
  await send(earlier, "old");
  await earlier.close();
  const foreign = ["notes.txt", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef_a.txt"];
  for (const name of foreign) await Deno.writeTextFile(join(world.folder, name), "mine");
  world.passedMs += 23 * HOUR_MS;
  const later = world.uploads();
  await later.quiet();
  assertEquals(world.files().length, 4);
  world.passedMs += 2 * HOUR_MS;
  await send(later, "new");
  const left = world.files().filter((name) => !foreign.includes(name));
  assertEquals(left.map((name) => Deno.readTextFileSync(join(world.folder, name))), ["new"]);
  assertEquals(world.files().length, 4);
});

Deno.test("two Computers may use one folder: each counts and expires what both have written", async () => {
  await using world = await World.open();
  const [one, other] = [world.uploads({ maxFiles: 3 }), world.uploads({ maxFiles: 3 })];
  const { upload_id } = await one.put(await first("hello", 2));
  await Promise.all([send(one, "one"), send(other, "two")]);
  assertEquals(await detailsOf(send(other, "three")), { reason: "too_large", total_size: 5 });
  await one.put({ upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") });
  await Promise.all([one.close(), other.close()]);
  assertEquals(world.files().length, 3);
  world.passedMs += 25 * HOUR_MS;
  await world.uploads().quiet();
  assertEquals([world.files(), namesIn(world.parts)], [[], []]);
});

Deno.test("parts that a dead process left behind are removed after an hour", async () => {
  await using world = await World.open();
  await world.uploads().quiet();
  const part = join(world.parts, `${"0".repeat(32)}.part`);
  await Deno.writeTextFile(part, "left");
  const uploads = world.uploads();
  await uploads.quiet();
  assertEquals(world.partFiles().length, 1);
  world.passedMs += HOUR_MS + 1_000;
  await send(uploads, "new");
  assertEquals(world.partFiles(), []);
});

for (const which of ["the folder", "its folder of parts"] as const) {
  Deno.test(
    `a link in place of ${which} is noticed during an upload, and nothing is written through it`,
    onPosix,
    async () => {
      await using world = await World.open();
      const uploads = world.uploads();
      const { upload_id } = await uploads.put(await first("hello", 2));
      // The first look at the folder makes it, too.
      await uploads.quiet();
      await Deno.mkdir(join(world.outside, ".a2c-upload"), { recursive: true });
      const path = which === "the folder" ? world.folder : world.parts;
      await Deno.rename(path, `${path}-moved`);
      await Deno.symlink(world.outside, path);
      const next = { upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") };
      assertEquals(await detailsOf(uploads.put(next)), { reason: "io_error" });
      assertEquals(await detailsOf(send(uploads, "more")), { reason: "forbidden" });
      await uploads.quiet();
      assertEquals(namesIn(world.outside), [".a2c-upload"]);
      assertEquals(namesIn(join(world.outside, ".a2c-upload")), []);
    },
  );
}

Deno.test("another folder under the same path is noticed during an upload, and takes the next one", async () => {
  await using world = await World.open();
  const uploads = world.uploads();
  const { upload_id } = await uploads.put(await first("hello", 2));
  await Deno.rename(world.folder, world.outside);
  const next = { upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") };
  assertEquals(await detailsOf(uploads.put(next)), { reason: "io_error" });
  await send(uploads, "more");
  assertEquals(world.files().length, 1);
});

Deno.test("a folder that cannot be made refuses uploads until it can", onPosix, async () => {
  await using world = await World.open();
  await Deno.writeTextFile(world.folder, "a file in its place");
  const uploads = world.uploads();
  assertEquals(await detailsOf(send(uploads, "hello")), { reason: "forbidden" });
  await Deno.remove(world.folder);
  await send(uploads, "hello");
});

Deno.test("uploads that are turned off, or sent to another folder, end at once", async () => {
  await using world = await World.open();
  const uploads = new Uploads({ rules: { takesUploads: true }, log: silentLogger });
  assertEquals(await detailsOf(send(uploads, "hello")), { reason: "forbidden" });
  for (const next of [undefined, world.outside]) {
    uploads.follow(world.folder);
    const { upload_id } = await uploads.put(await first("hello", 2));
    const last = { upload_id, chunk_offset: 2, eof: true, blob: btoa("llo") };
    uploads.follow(world.folder);
    const landing = uploads.put(last);
    uploads.follow(next);
    assertEquals(await detailsOf(landing), { reason: "invalid_upload" });
    const reason = next === undefined ? { reason: "forbidden" } : { reason: "invalid_upload", upload_id };
    assertEquals(await detailsOf(uploads.put(last)), reason);
    await uploads.quiet();
    assertEquals([world.files(), world.partFiles()], [[], []]);
  }
  await uploads.close();
});

Deno.test("uploads need protocol 0.4 and limits above 0", async () => {
  const before = { log: silentLogger, rules: { takesUploads: false } };
  const error = assertThrows(() => new Uploads({ ...before, options: "uploads" }), TypeError);
  assertNotEquals(error.message.indexOf("0.4"), -1);
  const limits = { folder: "uploads", maxFiles: 0 };
  assertThrows(
    () => new Uploads({ log: silentLogger, rules: { takesUploads: true }, options: limits }),
    RangeError,
  );
  await new Uploads(before).close();
});
