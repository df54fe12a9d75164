import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { silentLogger } from "../../../src/log.ts";
import {
  contentProblem,
  FileContentError,
  FileWatch,
  versionOf,
  WatchedFiles,
} from "../../../src/files/watched_files.ts";
import { LogBook } from "../../fixtures/log_book.ts";
import { isWindows } from "../../fixtures/system.ts";
import { eventually, within } from "../../fixtures/within.ts";

/** A folder of files that are watched; a text that begins with "broken" is refused. */
class Folder implements AsyncDisposable {
  readonly path: string = Deno.realPathSync(Deno.makeTempDirSync());
  readonly log = new LogBook();
  readonly used: string[] = [];
  #next = Promise.withResolvers<string>();

  at(name: string): string {
    return join(this.path, name);
  }

  write(name: string, text: string): void {
    Deno.writeTextFileSync(this.at(name), text);
  }

  replace(name: string, text: string): void {
    this.write("draft", text);
    Deno.renameSync(this.at("draft"), this.at(name));
  }

  watch(names: readonly string[], maxBytes = 1_000): Promise<WatchedFiles> {
    return WatchedFiles.open({
      kind: "test file",
      files: names.map((name) => this.at(name)),
      maxBytes,
      intervalMs: 5,
      logger: this.log,
      use: (texts) => {
        if (texts.some((text) => text.startsWith("broken"))) throw contentProblem("it is broken");
        this.used.push(texts.join("+"));
        const next = this.#next;
        this.#next = Promise.withResolvers();
        next.resolve(texts.join("+"));
      },
    });
  }

  /** The texts that are used next, from now on. */
  next(): Promise<string> {
    return within(this.#next.promise, "the next version of the files");
  }

  /** The error line of a version that cannot be used. */
  refusal() {
    return this.log.next(({ level }) => level === "error");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.path, { recursive: true });
  }
}

Deno.test("a file is read again when it is written in place, and when it is replaced", async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  await using _watched = await folder.watch(["a"]);
  for (const change of [() => folder.write("a", "second"), () => folder.replace("a", "third")]) {
    const next = folder.next();
    change();
    await next;
  }
  assertEquals(folder.used, ["first", "second", "third"]);
});

Deno.test("a file behind a symbolic link is read again when the link is swapped, as Kubernetes does", {
  ignore: isWindows,
}, async () => {
  await using folder = new Folder();
  for (const version of ["v1", "v2"]) {
    Deno.mkdirSync(folder.at(version));
    folder.write(join(version, "tokens"), version);
  }
  Deno.symlinkSync("v1", folder.at("..data"));
  Deno.symlinkSync(join("..data", "tokens"), folder.at("tokens"));
  await using _watched = await folder.watch(["tokens"]);
  const next = folder.next();
  Deno.symlinkSync("v2", folder.at("..data_tmp"));
  Deno.renameSync(folder.at("..data_tmp"), folder.at("..data"));
  assertEquals(await next, "v2");
});

Deno.test("a broken version keeps the former one, and is logged once", async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  await using watched = await folder.watch(["a"]);
  const refusal = folder.refusal();
  folder.write("a", "broken");
  const { message, fields } = await refusal;
  assert(message.includes("keeping the previous one"), message);
  assert(String(fields["error"]).includes("it is broken"), JSON.stringify(fields));
  assert(watched.problem?.includes("it is broken"));
  const next = folder.next();
  folder.write("a", "second");
  assertEquals(await next, "second");
  await folder.log.until(({ message }) => message.startsWith("read the changed"));
  assertEquals(watched.problem, undefined);
  assertEquals(folder.log.of("error").length, 1);
});

Deno.test("a file that is removed, and comes back, is read again", async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  await using _watched = await folder.watch(["a"]);
  const refusal = folder.refusal();
  Deno.removeSync(folder.at("a"));
  assert(String((await refusal).fields["error"]).includes("no such file"));
  const next = folder.next();
  folder.write("a", "first");
  assertEquals(await next, "first");
});

Deno.test("files that belong together are used together", async () => {
  await using folder = new Folder();
  folder.write("cert", "cert 1");
  folder.write("key", "key 1");
  await using _watched = await folder.watch(["cert", "key"]);
  const next = folder.next();
  folder.replace("cert", "cert 2");
  folder.replace("key", "key 2");
  assertEquals(await next, "cert 2+key 2");
});

Deno.test("a file that cannot be used at the start is refused with its reason", async () => {
  await using folder = new Folder();
  Deno.mkdirSync(folder.at("folder"));
  folder.write("broken", "broken");
  folder.write("large", "x".repeat(2_000));
  const pipes = isWindows ? {} : { pipe: "not a regular file" };
  if (!isWindows) await new Deno.Command("mkfifo", { args: [folder.at("pipe")] }).output();
  const reasons = {
    missing: "no such file",
    folder: "not a regular file",
    broken: "it is broken",
    large: "more than 1000 bytes",
    ...pipes,
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const error = await assertRejects(() => within(folder.watch([name]), name), FileContentError, reason);
    assert(error.message.includes(`test file "${folder.at(name)}"`), error.message);
  }
});

Deno.test("a file that becomes a pipe does not stop the checks", { ignore: isWindows }, async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  await using _watched = await folder.watch(["a"]);
  const refusal = folder.refusal();
  await new Deno.Command("mkfifo", { args: [folder.at("pipe")] }).output();
  Deno.renameSync(folder.at("pipe"), folder.at("a"));
  await refusal;
  const next = folder.next();
  folder.replace("a", "second");
  assertEquals(await next, "second");
});

Deno.test("after close() nothing is read", async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  const watched = await WatchedFiles.open({
    kind: "test file",
    files: [folder.at("a")],
    maxBytes: 100,
    intervalMs: 1,
    logger: silentLogger,
    use: ([text = ""]) => void folder.used.push(text),
  });
  folder.write("a", "second");
  await watched.close();
  await watched.close();
  const count = folder.used.length;
  folder.write("a", "third");
  await new Deno.Command(Deno.execPath(), { args: ["--version"] }).output();
  assertEquals(folder.used.length, count);
});

Deno.test("FileWatch tells of an edit between the reading and the watching, of another mode, and of nothing else", async () => {
  await using folder = new Folder();
  folder.write("a", "first");
  const file = folder.at("a");
  const since = await versionOf([file]);
  folder.write("a", "an early edit");
  const told: string[] = [];
  await using _watch = new FileWatch([file], {
    since,
    intervalMs: 5,
    onChange: () => Promise.resolve(void told.push(Deno.readTextFileSync(file))),
  });
  const changes = [() => {}, () => Deno.chmodSync(file, 0o600), () => folder.replace("a", "the last")];
  for (const [index, change] of changes.entries()) {
    folder.write("other", "x");
    change();
    await eventually(() => told.length, (count) => count > index, `change ${index}`);
  }
  assertEquals(told, ["an early edit", "an early edit", "the last"]);
});
