import { assertEquals } from "@std/assert";
import { Argument, type Command, Option } from "commander";
import { completeLine, type CompletionPlace, fileCandidates } from "../../../../src/cli/prompt/completion.ts";
import { createPromptProgram } from "../../../../src/cli/prompt/program.ts";
import { join } from "@std/path";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

function build(): Command {
  const program = createPromptProgram(() => {});
  program.command("status").description("show what runs");
  const server = program.command("server").description("MCP servers");
  server.command("start <name>").alias("run").option("--wait", "until it runs");
  server.command("add <file> [names...]")
    .addOption(new Option("--type <type>", "how to reach it").choices(["stdio", "sse"]))
    .option("--cwd <folder>", "where to start it");
  server.command("secret", { hidden: true });
  program.command("tools").addArgument(new Argument("<state>").choices(["all", "enabled"]));
  return program;
}

const complete = (line: string) => completeLine(build(), line);

Deno.test("completeLine() offers commands first, and those of a command after it", async () => {
  assertEquals(await complete(""), ["status", "server", "tools", "help"]);
  assertEquals(await complete("sta"), ["status", "server", "tools", "help"]);
  assertEquals(await complete("server "), ["start", "add", "help"]);
});

Deno.test("completeLine() offers commands again after help", async () => {
  assertEquals(await complete("help "), ["status", "server", "tools", "help"]);
  assertEquals(await complete("help server st"), ["start", "add", "help"]);
});

Deno.test("completeLine() offers an argument's choices, and no more than it takes", async () => {
  assertEquals(await complete("tools en"), ["all", "enabled"]);
  assertEquals(await complete("tools all "), []);
});

Deno.test("completeLine() offers options once a dash is typed, each once", async () => {
  assertEquals(await complete("server start -"), ["--wait", "--help"]);
  assertEquals(await complete("server start files --wait --"), ["--help"]);
  assertEquals(await complete("server start -- -"), []);
});

Deno.test("completeLine() offers the choices of an option behind its flag", async () => {
  assertEquals(await complete("server add --type s"), ["stdio", "sse"]);
});

Deno.test("completeLine() asks for what only the program knows, and says for which place", async () => {
  const places: CompletionPlace[] = [];
  const candidates = (place: CompletionPlace) => {
    places.push(place);
    return Promise.resolve(["files", "my notes"]);
  };
  const ask = (line: string) => completeLine(build(), line, { candidates });
  assertEquals(await ask("server run fi"), ["files", "my notes"]);
  assertEquals(await ask("server add --cwd /tm"), ["files", "my notes"]);
  assertEquals(await ask("server add --cwd /tmp a.json 'b c' d"), ["files", "my notes"]);
  assertEquals(places, [
    { command: ["server", "start"], argument: "name", words: [], word: "fi" },
    { command: ["server", "add"], argument: "--cwd", words: [], word: "/tm" },
    { command: ["server", "add"], argument: "names", words: ["a.json", "b c"], word: "d" },
  ]);
});

Deno.test("completeLine() offers nothing for a command that there is not", async () => {
  assertEquals(await complete("dance "), []);
});

Deno.test("fileCandidates() lists what begins so, folders with a slash, hidden ones only when asked for", async () => {
  using folder = new TempFolder();
  for (const name of ["config.json", "notes.txt", ".cache"]) {
    await Deno.writeTextFile(join(folder.path, name), "");
  }
  await Deno.mkdir(join(folder.path, "configs"));
  const list = async (start: string) =>
    (await fileCandidates(`${folder.path}/${start}`)).map((path) => path.slice(folder.path.length + 1));
  assertEquals(await list(""), ["config.json", "configs/", "notes.txt"]);
  assertEquals(await list("conf"), ["config.json", "configs/"]);
  assertEquals(await list("."), [".cache"]);
  assertEquals(await list("none/x"), []);
});
