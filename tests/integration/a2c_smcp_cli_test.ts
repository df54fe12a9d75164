// The program `a2c-smcp`: which program it starts, and the completion scripts in the shells that they are for.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { TempFolder } from "../fixtures/temp_folder.ts";

const CLI = fromFileUrl(new URL("../../cli.ts", import.meta.url));

async function run(command: string, ...args: string[]) {
  return await runWith({}, command, ...args);
}

async function runWith(env: Record<string, string>, command: string, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, env, stdin: "null" }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

function runCli(...args: string[]) {
  return run(Deno.execPath(), "run", "-A", "--no-check", "--quiet", CLI, ...args);
}

Deno.test("a word that is no program is an error, with the program that was probably meant", async () => {
  const { code, stdout, stderr } = await runCli("servre", "--port", "0");
  assertEquals([code, stdout], [2, ""]);
  assertEquals(stderr, 'error: Cannot run "servre": unknown program; did you mean "server"?\n');
  assertStringIncludes((await runCli("xyzzy")).stderr, "Usage: a2c-smcp <program>");
});

type RunShell = (...args: string[]) => ReturnType<typeof run>;

/**
 * A test with the script of a shell in a file, and the program on the PATH; ignored, and said so, where the shell is not
 * installed.
 */
async function testIn(
  shell: string,
  work: (script: string, runShell: RunShell) => Promise<void>,
): Promise<void> {
  const isInstalled = await run(shell, "-c", "true").then(({ code }) => code === 0, () => false);
  const name = `the completion script works in ${shell}`;
  if (!isInstalled) return Deno.test.ignore(`${name} (ignored: it is not installed)`, () => {});
  Deno.test(name, async () => {
    const { code, stdout } = await runCli("completion", shell);
    assertEquals(code, 0);
    using folder = new TempFolder();
    const [script, program] = [`${folder.path}/script`, `${folder.path}/a2c-smcp`];
    await Deno.writeTextFile(script, stdout);
    const start = `exec "${Deno.execPath()}" run -A --no-check --quiet "${CLI}" "$@"`;
    await Deno.writeTextFile(program, `#!/bin/sh\n${start}\n`, { mode: 0o700 });
    const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
    await work(script, (...args) => runWith(env, shell, ...args));
  });
}

/** A line to its last word, and what may stand there. */
const LINES = [
  [["a2c-smcp", ""], ["agent", "completion", "computer", "demo", "documents", "hub", "server"]],
  [["a2c-smcp", "completion", "z"], ["zsh"]],
  [["a2c-smcp", "agent", "c"], ["call", "complete", "config"]],
  [["a2c-smcp", "computer", "server", "re"], ["remove", "restart"]],
  [["a2c-smcp", "agent", "finder", "--depth", ""], ["documents", "elements", "pages"]],
  [["a2c-smcp", "agent", "--json", "call", "--ti"], ["--timeout"]],
] as const;

await testIn("bash", async (script, runShell) => {
  const ask =
    `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _a2c_smcp; printf '%s\\n' "\${COMPREPLY[@]}"`;
  for (const [words, offered] of LINES) {
    const { stdout, stderr } = await runShell("-c", ask, script, ...words);
    assertEquals([stdout.trim().split("\n").toSorted(), stderr], [[...offered], ""], words.join(" "));
  }
});

await testIn("fish", async (script, runShell) => {
  for (const [words, offered] of LINES) {
    const { stdout } = await runShell(
      "--no-config",
      "-c",
      `source ${script}; complete -C '${words.join(" ")}'`,
    );
    const found = stdout.trim().split("\n").map((line) => line.split("\t")[0]);
    assertEquals(found.toSorted(), [...offered], words.join(" "));
  }
});

await testIn("zsh", async (script, runShell) => {
  // What the script would hand to zsh's menus, which work at a terminal alone.
  const ask =
    `compdef() { }; _describe() { print -rl -- \${(P)2} }; _files() { }; source $0; words=("$@"); CURRENT=$#; _a2c_smcp`;
  for (const [words, offered] of LINES) {
    const { stdout, stderr } = await runShell("-f", "-c", ask, script, ...words);
    const found = stdout.trim().split("\n").map((line) => line.split(":")[0] ?? "");
    assertEquals([found.filter((word) => word.startsWith(words.at(-1) ?? "")).toSorted(), stderr], [[
      ...offered,
    ], ""]);
  }
});

Deno.test("a shell without a script is refused with those that there are", async () => {
  const { code, stdout, stderr } = await runCli("completion", "tcsh");
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, "bash, zsh, fish");
});
