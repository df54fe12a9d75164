import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { History, type HistoryOptions } from "../../../../src/terminal/editor/history.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  await work(folder.path);
}

/** Adds lines in a session of their own and gives what the next session will have. */
async function type(options: HistoryOptions, ...lines: string[]): Promise<void> {
  await using history = await History.open(options);
  for (const line of lines) history.add(line);
}

async function read(options: HistoryOptions): Promise<readonly string[]> {
  await using history = await History.open(options);
  return history.lines;
}

Deno.test("a history keeps lines from one session to the next, oldest first", () =>
  inFolder(async (folder) => {
    const options = { file: join(folder, "new", "history") };
    await type(options, "status", "tools 数据");
    await type(options, "quit");
    assertEquals(await read(options), ["status", "tools 数据", "quit"]);
  }));

Deno.test({
  name: "a history and its folder are for their owner alone",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (folder) => {
      const file = join(folder, "new", "history");
      await type({ file }, "status");
      const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
      assertEquals([modeOf(file), modeOf(join(folder, "new"))], [0o600, 0o700]);
      await Deno.chmod(file, 0o644);
      await type({ file });
      assertEquals(modeOf(file), 0o600);
    }),
});

Deno.test("a history omits repeated, empty and secret lines and lines with control characters", () =>
  inFolder(async (folder) => {
    const isKept = (line: string) => !line.startsWith("input set");
    const options = { file: join(folder, "history"), isKept };
    await type(
      options,
      "tools",
      "tools",
      " ",
      "",
      "input set key s3cret",
      "a\u001b[2J",
      "x".repeat(5_000),
      "tools",
    );
    assertEquals(await Deno.readTextFile(options.file), "tools\n");
    await type({ ...options, isKept: undefined }, "input set key s3cret");
    assertEquals(await read(options), ["tools"]);
  }));

Deno.test("a history keeps the latest lines, and truncates its file when it is opened", () =>
  inFolder(async (folder) => {
    const options = { file: join(folder, "history"), maxLines: 3 };
    await type(options, "1", "2", "3", "4", "5");
    assertEquals(await read(options), ["3", "4", "5"]);
    assertEquals(await Deno.readTextFile(options.file), "3\n4\n5\n");
  }));

Deno.test("several sessions can share a history file", () =>
  inFolder(async (folder) => {
    const options = { file: join(folder, "history") };
    await Deno.writeTextFile(options.file, "old\n".repeat(1_500));
    const sessions = Array.from({ length: 8 }, (_, i) =>
      type(options, ...Array.from({ length: 10 }, (_, j) => `session ${i} line ${j}`)));
    await Promise.all(sessions);
    const lines = await read(options);
    assertEquals(
      lines.filter((line) =>
        line.startsWith("session")
      ).length,
      80,
    );
  }));

Deno.test("a history whose file cannot be used warns once and stays in memory", () =>
  inFolder(async (folder) => {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    await using history = await History.open({ file: folder, onWarning });
    history.add("status");
    history.add("tools");
    assertEquals(history.lines, ["status", "tools"]);
    await history[Symbol.asyncDispose]();
    assertEquals(warnings.length, 1);
    assertMatch(warnings[0] ?? "", /^Cannot keep the history in ".+": /);
  }));

Deno.test({
  name: "a history asks for no permission",
  permissions: { read: false, write: false },
  async fn() {
    const warnings: string[] = [];
    await using _ = await History.open({
      file: "/tmp/history",
      onWarning: (message) => warnings.push(message),
    });
    assertEquals(warnings, [`Cannot keep the history in "/tmp/history": --allow-read is missing`]);
  },
});
