import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { FileWatch, stampOf } from "../../../../src/cli/computer/file_watch.ts";
import { silentLogger } from "../../../../src/log.ts";
import { LogBook } from "../../../fixtures/log_book.ts";

/** A folder with a file in it that is watched. */
class Watched implements AsyncDisposable {
  readonly folder: string = Deno.realPathSync(Deno.makeTempDirSync());
  readonly file: string = join(this.folder, "config.json");
  readonly heard: string[] = [];
  readonly #watch: FileWatch;
  #next = Promise.withResolvers<string>();

  constructor(log = silentLogger, private readonly fail = false) {
    Deno.writeTextFileSync(this.file, "first");
    this.#watch = new FileWatch(this.file, { log, onChange: () => this.#hear() });
  }

  /** What the file held when the next change was heard. */
  next(): Promise<string> {
    return this.#next.promise;
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await Deno.remove(this.folder, { recursive: true });
  }

  #hear(): void {
    const text = Deno.readTextFileSync(this.file);
    this.heard.push(text);
    const next = this.#next;
    this.#next = Promise.withResolvers();
    next.resolve(text);
    if (this.fail) throw new TypeError("Cannot use it");
  }
}

Deno.test("a file that is written in place is reported when it has stopped changing", async () => {
  await using watched = new Watched();
  const heard = watched.next();
  Deno.writeTextFileSync(watched.file, "half");
  Deno.writeTextFileSync(watched.file, "whole text");
  assertEquals(await heard, "whole text");
});

Deno.test("a file that is replaced, as editors do, is reported each time", async () => {
  await using watched = new Watched();
  for (const text of ["second", "the third"]) {
    const heard = watched.next();
    const draft = join(watched.folder, "draft");
    Deno.writeTextFileSync(draft, text);
    Deno.renameSync(draft, watched.file);
    assertEquals(await heard, text);
  }
});

Deno.test("a symbolic link is reported when the file behind it is replaced", async () => {
  const folder = Deno.makeTempDirSync();
  for (const version of ["a", "bb"]) {
    Deno.mkdirSync(join(folder, version));
    Deno.writeTextFileSync(join(folder, version, "config.json"), version);
  }
  Deno.symlinkSync(join(folder, "a"), join(folder, "current"));
  Deno.symlinkSync(join(folder, "current", "config.json"), join(folder, "config.json"));
  const { promise, resolve } = Promise.withResolvers<string>();
  const file = join(folder, "config.json");
  const watch = new FileWatch(file, {
    log: silentLogger,
    onChange: () => resolve(Deno.readTextFileSync(file)),
  });
  Deno.symlinkSync(join(folder, "bb"), join(folder, "next"));
  Deno.renameSync(join(folder, "next"), join(folder, "current"));
  assertEquals(await promise, "bb");
  await watch.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "a file is reported when its permissions change",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using watched = new Watched();
    const heard = watched.next();
    Deno.chmodSync(watched.file, 0o600);
    assertEquals(await heard, "first");
  },
});

Deno.test("an edit between the reading and the watching of a file is reported", async () => {
  await using watched = new Watched();
  const since = stampOf(watched.file);
  Deno.writeTextFileSync(watched.file, "an early edit");
  const { promise, resolve } = Promise.withResolvers<void>();
  await using _ = new FileWatch(watched.file, { log: silentLogger, onChange: resolve, since });
  await promise;
});

Deno.test("other files of the folder are not reported, and close() is idempotent", async () => {
  await using watched = new Watched();
  Deno.writeTextFileSync(join(watched.folder, "other.json"), "x");
  const heard = watched.next();
  Deno.writeTextFileSync(watched.file, "mine now");
  assertEquals(await heard, "mine now");
  assertEquals(watched.heard.length, 1);
  await watched.close();
});

Deno.test("an error of onChange is logged, and the next change is still reported", async () => {
  const log = new LogBook();
  await using watched = new Watched(log, true);
  for (const text of ["second", "the third"]) {
    const failed = log.next(({ level }) => level === "error");
    Deno.writeTextFileSync(watched.file, text);
    assertEquals((await failed).fields["error"], "Cannot use it");
  }
  assertEquals(watched.heard, ["second", "the third"]);
});
