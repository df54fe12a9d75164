import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { openActivityLog } from "../../../../../src/cli/agent/mcp/command.ts";
import { LogBook } from "../../../../fixtures/log_book.ts";
import { TempFolder } from "../../../../fixtures/temp_folder.ts";

Deno.test("an activity log that cannot be written says so once, and again when it can be written", () => {
  using folder = new TempFolder();
  const path = join(folder.path, "activity.jsonl");
  const log = new LogBook();
  const tell = openActivityLog({ activityLog: path }, log);
  const call = () =>
    tell?.({
      client: "test",
      credential: "owner",
      tool: "echo",
      computer: "laptop",
      durationMs: 1,
      outcome: "ok",
      args: {},
    });
  call();
  Deno.removeSync(path);
  Deno.mkdirSync(path);
  call();
  call();
  Deno.removeSync(path);
  call();
  call();
  const told = log.lines.map(({ level, fields }) => [level, fields["path"], fields["lines_lost"]]);
  assertEquals(told, [["error", path, undefined], ["warn", path, 2]]);
  assertEquals(Deno.readTextFileSync(path).trim().split("\n").length, 2);
});

Deno.test("the activity log leaves out a name that is not known", () => {
  using folder = new TempFolder();
  const path = join(folder.path, "activity.jsonl");
  const told = { tool: "echo", computer: "laptop", durationMs: 1, outcome: "ok", args: {} } as const;
  openActivityLog({ activityLog: path }, new LogBook())?.({
    ...told,
    client: "test",
    credential: "0fd2",
    name: "",
    person: "ada",
  });
  const { name, person } = JSON.parse(Deno.readTextFileSync(path));
  assertEquals([name, person], [undefined, "ada"]);
});
