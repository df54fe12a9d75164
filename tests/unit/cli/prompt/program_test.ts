import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ExitRequest } from "../../../../src/cli/outcome.ts";
import { createPromptProgram, runTypedLine } from "../../../../src/cli/prompt/program.ts";
import { InvalidArgumentError, Option } from "commander";
import { SmcpError } from "../../../../src/protocol/errors.ts";

/** Runs lines and gives the exit codes and all that was printed. */
async function run(...lines: string[]) {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const build = () => {
    const program = createPromptProgram(print);
    program.command("echo <words...>").description("say it again")
      .addOption(new Option("--times <n>", "how often").argParser(parseTimes).default(1))
      .action((words: string[], { times }: { times: number }) => print(words.join("|").repeat(times)));
    program.command("server").description("MCP servers").command("start <name>").action((name: string) => {
      throw new SmcpError(404, `Cannot start "${name}"\u001b[2J`);
    });
    program.option("--json", "print JSON");
    program.command("say-and-fail").action(() => {
      print("told");
      throw new ExitRequest(5);
    });
    return program;
  };
  const codes: number[] = [];
  for (const line of lines) {
    codes.push(await runTypedLine(line, { build, printError: print }));
  }
  return { codes, text: printed.join("\n") };
}

function parseTimes(raw: string): number {
  if (/^\d$/.test(raw)) return Number(raw);
  throw new InvalidArgumentError("Give a digit");
}

Deno.test("runTypedLine() runs a line as a shell reads it, each with fresh options", async () => {
  assertEquals(await run(`echo --times 2 'a b' c`, "echo d"), { codes: [0, 0], text: "a b|ca b|c\nd" });
});

Deno.test("runTypedLine() does nothing for empty lines and comments", async () => {
  assertEquals(await run("", "   ", "  # echo a"), { codes: [0, 0, 0], text: "" });
});

Deno.test("runTypedLine() prints help, and is no failure", async () => {
  const { codes, text } = await run("help", "echo --help", "help server");
  assertEquals(codes, [0, 0, 0]);
  assertMatch(text, /^Usage: <command> …$/m);
  assertMatch(text, /^Usage: echo \[options\] <words\.\.\.>$/m);
  assertMatch(text, /^Usage: server \[options\] \[command\]$/m);
  assertStringIncludes(text, "say it again");
});

Deno.test("runTypedLine() prints what is wrong with a line, once, and what was meant", async () => {
  const { codes, text } = await run("eco a", "echo", "echo --times x a", "echo 'a");
  assertEquals(codes, [2, 2, 2, 2]);
  assertEquals(text.split("\n"), [
    "error: unknown command 'eco'",
    "(Did you mean echo?)",
    '("help" shows the commands)',
    "error: missing required argument 'words'",
    "(usage: echo [options] <words...>)",
    "error: option '--times <n>' argument 'x' is invalid. Give a digit",
    "(usage: echo [options] <words...>)",
    "error: Cannot read the line: the quote ' is not closed",
  ]);
});

Deno.test("runTypedLine() prints why a command failed, harmless to the terminal", async () => {
  assertEquals(await run("server start files"), {
    codes: [1],
    text: 'error: Cannot start "files"�[2J (404)',
  });
  assertEquals(await run("say-and-fail"), { codes: [5], text: "told" });
});

Deno.test("runTypedLine() prints errors as JSON with --json, also those of the words", async () => {
  for (const [line, code] of [["--json server start files", 404], ["--json eco a", "USAGE"]] as const) {
    const { codes, text } = await run(line);
    const { error } = JSON.parse(text);
    assertEquals([error.code, [error.exit_code]], [code, codes]);
  }
});
