// The prompt with a person at a real terminal. What it does is in tests/fixtures/prompt.ts.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import {
  Key,
  openTerminalSession,
  type TerminalSession,
  testOnTerminal,
} from "../integration/_terminal_session.ts";

const PROGRAM = fromFileUrl(new URL("../fixtures/prompt.ts", import.meta.url));

interface Sitting {
  /** A folder for files, gone at the end. */
  readonly folder: string;
  /** Starts the prompt, with a history in that folder. */
  open(columns?: number): Promise<TerminalSession>;
}

/** A test that sits at the prompt. It leaves with Ctrl-D, if it has not left by itself. */
function test(name: string, work: (sitting: Sitting) => Promise<void>): void {
  testOnTerminal(name, async () => {
    const folder = await Deno.makeTempDir();
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => Deno.remove(folder, { recursive: true }));
    const sessions: TerminalSession[] = [];
    const open = async (columns = 60) => {
      const command = [
        Deno.execPath(),
        "run",
        "-A",
        "--no-check",
        "--quiet",
        PROGRAM,
        join(folder, "history"),
      ];
      const session = cleanUp.use(openTerminalSession(command, { columns, env: { NO_COLOR: "1" } }));
      sessions.push(session);
      await session.expect("0> ");
      return session;
    };
    await work({ folder, open });
    for (const session of sessions) await leave(session);
  });
}

async function leave(session: TerminalSession): Promise<void> {
  await session.expectScreen(/\d>$|\nbye$/);
  if (!session.screen().endsWith("\nbye")) await session.write(Key.ctrlD);
  assertEquals(await session.expectExit(), 0);
}

/** Types a line, and waits for the prompt after it. */
async function enter(session: TerminalSession, line: string): Promise<string> {
  await session.write(`${line}${Key.enter}`);
  return await session.expect(/\d> $/);
}

test("a line is run, and the prompt follows the state", async ({ open }) => {
  const session = await open();
  assertStringIncludes(await enter(session, "echo 'a  b' c"), "a  b|c\n1> ");
  await session.write(`quit${Key.enter}`);
  assertEquals(await session.expectExit(), 0);
  assertEquals(session.screen(), "0> echo 'a  b' c\na  b|c\n1> quit\nbye");
});

test("arrow up brings back lines of this session and of the one before, but no secrets", async ({ open }) => {
  const first = await open();
  await enter(first, "echo one");
  await enter(first, "echo s3cret");
  await enter(first, "echo two");
  await first.write(Key.ctrlD);
  await first.expectExit();
  const second = await open();
  await enter(second, "echo three");
  await second.write(Key.up);
  await second.expectScreen(/^1> echo three$/m);
  await second.write(Key.up);
  await second.expectScreen(/^1> echo two$/m);
  await second.write(Key.up);
  await second.expectScreen(/^1> echo one$/m);
  await second.write(`${Key.up}${Key.down}${Key.down}!${Key.enter}`);
  await second.expect("two!");
});

test("Ctrl-R finds earlier lines by a part of them", async ({ open }) => {
  const session = await open();
  for (const [index, line] of ["echo one", "status", "echo two"].entries()) {
    await session.write(`${line}${Key.enter}`);
    await session.expect(`${index + 1}> `);
  }
  await session.write(`o${Key.ctrlR}`);
  await session.expectScreen(/^3> echo two$/m);
  await session.write(Key.ctrlR);
  await session.expectScreen(/^3> echo one$/m);
  await session.write(`${Key.ctrlR}!`);
  await session.expectScreen(/^3> echo one!$/m);
  await session.write(`${Key.ctrlU}nothing${Key.ctrlR}|`);
  await session.expectScreen(/^3> nothing\|$/m);
  await session.write(Key.ctrlU);
});

test("Tab completes commands, and names that only the program knows", async ({ open }) => {
  const session = await open();
  await session.write(`stat${Key.tab}`);
  await session.expectScreen((screen) => screen.endsWith("0> status"));
  await session.write(`${Key.ctrlU}start fi${Key.tab}`);
  await session.expectScreen((screen) => screen.endsWith("0> start files"));
  await session.write(`${Key.backspace.repeat(6)}my${Key.tab}`);
  await session.expectScreen((screen) => screen.endsWith("0> start my\\ notes"));
  await session.write(Key.enter);
  await session.expect("started my notes");
});

test("Tab that is pressed again lists what there is when it cannot lead further", async ({ open }) => {
  const session = await open();
  await session.write(`with${Key.tab}`);
  await session.expectScreen((screen) => screen.endsWith("0> withdraw"));
  await session.write(Key.tab);
  await session.expectScreen(/withdraw +withdraw-first\n\n0> withdraw$/);
  await session.write(`-${Key.tab}`);
  await session.expectScreen((screen) => screen.endsWith("0> withdraw-first"));
  await session.write(Key.ctrlU);
});

test("keys that are pressed while Tab is looked after wait for it", async ({ open }) => {
  const session = await open();
  await session.write(`start fi${Key.tab}`);
  await session.write(`more${Key.enter}`);
  await session.expect("error: too many arguments");
});

test("what is printed meanwhile goes above the half-typed line", async ({ folder, open }) => {
  const session = await open(20);
  await enter(session, `later ${folder}/a 'a notification'`);
  await enter(session, `later ${folder}/b log`);
  const line = "echo a line that takes several rows";
  await session.write(`${line}${Key.left.repeat(20)}`);
  await session.expectScreen(/rows$/);
  await Deno.writeTextFile(`${folder}/a`, "");
  await session.expectScreen(/\na notification\n2> echo a line that\ntakes several rows$/);
  await Deno.writeTextFile(`${folder}/b`, "");
  await session.expectScreen(
    /\na notification\n[\dT:.-]+\n\d+Z WARN {2}computer:\n news\n2> echo a line that\ntakes several rows$/,
  );
  await session.write(`X${Key.enter}`);
  await session.expectScreen(/\na\|line\|thaXt\|takes\|s\neveral\|rows\n3>$/);
});

test("strangers' words cannot command the terminal", async ({ open }) => {
  const session = await open();
  assertStringIncludes(await enter(session, "stranger"), "a�]0;pwned�b�[2J\n");
});

test("a hidden answer is nowhere on the terminal and in no history", async ({ folder, open }) => {
  const session = await open();
  await session.write(`secret${Key.enter}`);
  await session.expect("API key: ");
  await session.write(`hunter3${Key.backspace}2${Key.enter}`);
  await session.expect("answer: 7\n1> ");
  await session.write(Key.up);
  await session.expectScreen(/^1> secret$/m);
  await session.write(`${Key.enter}`);
  await session.expect("API key: ");
  await session.write(Key.enter);
  await session.expect(`answer: ${"hidden default".length}`);
  assert(!session.output().includes("hunt") && !session.output().includes("hidden default"));
  await session.write(Key.ctrlD);
  await session.expectExit();
  assertEquals(await Deno.readTextFile(join(folder, "history")), "secret\n");
});

test("a question shows its default, and goes into no history either", async ({ folder, open }) => {
  const session = await open();
  await session.write(`ask${Key.enter}`);
  await session.expect("Your name [ada]: ");
  await session.write(`grace${Key.enter}`);
  await session.expect(`answer: "grace"\n1> `);
  await session.write(`ask${Key.enter}`);
  await session.expect("[ada]: ");
  await session.write(Key.enter);
  await session.expect(`answer: "ada"\n2> `);
  // What was entered is in the file when the program has ended.
  await session.write(Key.ctrlD);
  await session.expectExit();
  assertEquals(await Deno.readTextFile(join(folder, "history")), "ask\n");
});

test("a choice takes a number or the value, and asks again for what is neither", async ({ open }) => {
  const session = await open();
  await session.write(`choose${Key.enter}`);
  assertStringIncludes(await session.expect("[red]: "), "\n  1  red\n  2  dark blue\nWhich one [red]: ");
  await session.write(`3${Key.enter}`);
  await session.expect(
    `Invalid choice "3": enter a number from 1 to 2, or one of the options\nWhich one [red]: `,
  );
  await session.write(`2${Key.enter}`);
  await session.expect(`answer: "dark blue"`);
  await session.write(`choose${Key.enter}`);
  await session.expect("[red]: ");
  await session.write(Key.enter);
  await session.expect(`answer: "red"`);
});

test("a question interrupts a half-typed line, which comes back as it was", async ({ folder, open }) => {
  const session = await open();
  await enter(session, `ask-later ${folder}/now`);
  await session.write(`echo half${Key.left}${Key.left}`);
  await session.expectScreen(/^1> echo half$/m);
  await Deno.writeTextFile(`${folder}/now`, "");
  await session.expectScreen(/\nline one\nSure:$/);
  assert(!session.screen().includes("echo half"));
  await session.write(`y${Key.enter}`);
  await session.expectScreen(/\nanswer: "y"\n1> echo half$/);
  await session.write(`X${Key.enter}`);
  await session.expect("\nhaXlf\n");
});

test("questions that are asked at the same time wait for each other", async ({ open }) => {
  const session = await open();
  await session.write(`both${Key.enter}`);
  await session.expect("First: ");
  await session.write(`1${Key.enter}2${Key.enter}`);
  await session.expect(`answer: ["1","2"]`);
  assertMatch(session.screen(), /^First: 1\nSecond: 2$/m);
});

test("a question that is withdrawn says so, and has no answer", async ({ folder, open }) => {
  const session = await open();
  await session.write(`withdraw ${folder}/now${Key.enter}`);
  await session.expect("Still there: ");
  await session.write("y");
  await session.expectScreen(/Still there: y$/);
  await Deno.writeTextFile(`${folder}/now`, "");
  await session.expectScreen(/\nStill there: \(withdrawn\)\nanswer: none\n1>$/);
});

test("keys right after a question was withdrawn are no answer to the next one", async ({ folder, open }) => {
  const session = await open();
  await session.write(`withdraw-first ${folder}/now${Key.enter}`);
  await session.expect("First: ");
  await Deno.writeTextFile(`${folder}/now`, "");
  await session.expectScreen(/^First: \(withdrawn\)\nSecond:$/m);
  // Ctrl-C comes after these keys, and refuses what they have not answered.
  await session.write(`y${Key.enter}${Key.ctrlC}`);
  await session.expectScreen(/\nSecond: \^C\nanswer: \[null,null\]\n1>$/);
});

test("Ctrl-C takes back a line, tells on an empty one how to end, and refuses a question", async ({ open }) => {
  const session = await open();
  await session.write(`echo half${Key.ctrlC}`);
  await session.expectScreen(/^0> echo half\^C\n0>$/);
  await session.write(Key.ctrlC);
  await session.expectScreen(/\n\(to exit, .*Ctrl-D\)\n0>$/);
  await session.write(`ask${Key.enter}`);
  await session.expect("[ada]: ");
  await session.write(`gr${Key.ctrlC}`);
  await session.expectScreen(/\[ada\]: gr\^C\nanswer: none\n1>$/);
  await session.write(`ask${Key.enter}`);
  await session.expect("[ada]: ");
  await session.write(Key.ctrlD);
  await session.expectScreen(/\[ada\]:\nanswer: none\n2>$/);
});

test("Ctrl-C while a command runs is the command's, or the owner's when it has none", async ({ open }) => {
  const session = await open();
  await session.write(`wait${Key.enter}`);
  await session.expect("waiting");
  await session.write(Key.ctrlC);
  await session.expect("interrupted\n1> ");
  await session.write(`wait${Key.enter}`);
  await session.expect("waiting");
  await session.write(`${Key.ctrlC}${Key.ctrlC}`);
  await session.expect("nobody listens");
});

test("Ctrl-D ends an empty line, and deletes in another one", async ({ open }) => {
  const session = await open();
  await session.write(`echo ab${Key.left}${Key.ctrlD}${Key.enter}`);
  await session.expect("\na\n1> ");
  await session.write(Key.ctrlD);
  assertEquals(await session.expectExit(), 0);
  assertEquals(session.screen(), "0> echo a\na\n1>\nbye");
});

test("a paste of several lines is run line by line, and what is typed too early waits", async ({ open }) => {
  const session = await open();
  await session.write(`echo one\recho two\recho half`);
  await session.expectScreen(/^0> echo one\none\n1> echo two\ntwo\n2> echo half$/);
  await session.write(`${Key.enter}wait${Key.enter}`);
  await session.expect("waiting");
  await session.write(`echo early${Key.enter}echo ear`);
  await session.write(Key.ctrlC);
  await session.expectScreen(/interrupted\n4> echo ear$/);
  await session.write(`ly${Key.enter}`);
  await session.expectScreen(/\nearly\n5>$/);
});

test("progress appears, lets lines pass above it, and vanishes", async ({ folder, open }) => {
  const session = await open();
  await session.write(`work ${folder}/half${Key.enter}`);
  await session.expectScreen(/\n\S working {2}1 of 2 {2}\d+ s$/);
  await Deno.writeTextFile(`${folder}/half`, "");
  await session.expectScreen(/WARN {2}computer: half done\n\S working {2}2 of 2 {2}\d+ s$/);
  await Deno.writeTextFile(`${folder}/half2`, "");
  await session.expectScreen(/WARN {2}computer: half done\n1>$/);
});

test("the line is drawn again when the terminal gets another size", async ({ open }) => {
  const session = await open(60);
  await session.write("echo a line that takes several rows");
  await session.expectScreen(/rows$/);
  await session.resize(30);
  await session.write(`!${Key.enter}`);
  await session.expect("several|rows!");
});

test("the terminal is left as it was found", async ({ open }) => {
  const session = await open();
  await session.write(Key.ctrlD);
  await session.expectExit();
  const shell =
    `stty -a | grep -o '[-]*icanon'; ${Deno.execPath()} run -A --quiet ${PROGRAM} ''; stty -a | grep -o '[-]*icanon'`;
  await using other = openTerminalSession(["sh", "-c", shell]);
  await other.expect("icanon");
  await other.expect("0> ");
  await other.write(Key.ctrlD);
  assertEquals((await other.expect("icanon")).includes("-icanon"), false);
});

Deno.test("a script on standard input is run without prompt or echo, and nobody is asked", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", PROGRAM],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("# a script\necho one\r\nask\n\necho 数据"));
  await writer.close();
  const { code, stdout } = await child.output();
  assertEquals(code, 0);
  assertEquals(
    new TextDecoder().decode(stdout),
    'one\nerror: Cannot ask "Your name": standard input is not a terminal\n数据\nbye\n',
  );
});
