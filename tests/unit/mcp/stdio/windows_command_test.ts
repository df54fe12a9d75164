import { assertEquals, assertThrows } from "@std/assert";
import { batchLine, quoteForCmd } from "../../../../src/mcp/stdio/windows_command.ts";
import { spawnGroupLeader } from "../../../../src/mcp/stdio/spawn.ts";
import { isLacking, isWindows } from "../../../fixtures/system.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

Deno.test("plain words stay as they are, and all others are quoted", () => {
  const plain = ["-y", "@scope/server@1.2.3", "C:\\Users\\ada\\a.txt", "--port=8080".slice(0, 6)];
  assertEquals(plain.map(quoteForCmd), plain);
  assertEquals(
    ["", "a b", "a&b", "a=b", 'say "hi"', "C:\\a b\\", "%PATH%"].map(quoteForCmd),
    [
      '""',
      '"a b"',
      '"a&b"',
      '"a=b"',
      '"say ""hi"""',
      '"C:\\a b\\\\"',
      '"%A2C_SMCP_PERCENT%PATH%A2C_SMCP_PERCENT%"',
    ],
  );
});

Deno.test("a word that would end the line of a batch file is refused", () => {
  for (const word of ["a\nb", "a\rb", "a\0b"]) assertThrows(() => quoteForCmd(word), TypeError, "line break");
});

Deno.test("a batch file runs as one line, with the variable that its arguments need", () => {
  assertEquals(batchLine("C:\\a b\\npx.cmd", ["-y", "100%"], "cmd.exe"), {
    program: "cmd.exe",
    args: ['/e:ON /v:OFF /d /s /c ""C:\\a b\\npx.cmd" -y "100%A2C_SMCP_PERCENT%""'],
    isRaw: true,
    env: { A2C_SMCP_PERCENT: "%" },
  });
});

/** What a batch file that passes its arguments on, as those of npm do, gives to a program. */
async function passedOn(args: readonly string[]): Promise<unknown> {
  using folder = new TempFolder();
  const script = `${folder.path}\\print args.ts`;
  await Deno.writeTextFile(script, "console.log(JSON.stringify(Deno.args))");
  await Deno.writeTextFile(
    `${folder.path}\\launch.cmd`,
    `@echo off\r\n"${Deno.execPath()}" run --no-config "${script}" %*\r\n`,
  );
  const env = { ...Deno.env.toObject(), PATH: folder.path, PATHEXT: ".COM;.EXE;.BAT;.CMD" };
  const process = spawnGroupLeader("launch", { args, env, cwd: undefined });
  await process.stdin.close();
  const output = new Response(process.stdout).text();
  const [text] = await Promise.all([output, process.stderr.cancel(), process.status]);
  return JSON.parse(text);
}

Deno.test(
  "a launcher of npm is found by its name, and passes on what it gets",
  { ignore: !isWindows },
  async () => {
    const args = ["-y", "a b", "x&echo.injected", "a|b>c", "^caret", "(p)", "!PATH!", "ä 数"];
    if (!isLacking("quotesOfCmd")) args.push("%PATH%", "100%", 'say "hi"&echo.injected', "C:\\a b\\");
    assertEquals(await passedOn(args), args);
  },
);
