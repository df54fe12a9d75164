/** A real pseudo-terminal around a program: `script` of util-linux, or Python's `pty` where there is none. */

import { isFullSize } from "../fixtures/test_size.ts";

/** A command as a list of words. */
export type Words = readonly string[];

/** A way to run a command inside a terminal of so many columns. */
export interface Terminal {
  readonly name: string;
  wrap(command: Words, columns: number): Words;
}

/** Carries bytes between its own pipes and a terminal; when it is ended, the program loses its terminal. */
const PYTHON = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
sources = [0, terminal]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready:
        keys = os.read(0, 65536)
        if not keys:
            sources.remove(0)
        while keys:
            keys = keys[os.write(terminal, keys):]
    if terminal in ready:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        os.write(1, chunk)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

const script: Terminal = {
  name: "script",
  wrap(command, columns) {
    const line = `stty cols ${columns} rows 40; exec ${command.map(quote).join(" ")}`;
    return ["script", "--quiet", "--return", "--command", line, "/dev/null"];
  },
};

const python: Terminal = {
  name: "python3",
  wrap: (command, columns) => ["python3", "-c", PYTHON, `${columns}`, ...command],
};

const hasScript = await answers(["script", "--version"], "util-linux");
const hasPython = await answers(["python3", "-c", "import fcntl, pty, termios; print('pty')"], "pty");

/** The terminals that this machine offers. */
export const terminals: readonly Terminal[] = [...hasScript ? [script] : [], ...hasPython ? [python] : []];

/** What is missing for the others, as the names of ignored tests say it. */
const MISSING: readonly string[] = [
  ...hasScript ? [] : ["script of util-linux is not installed"],
  ...hasPython ? [] : ["python3 with pty is not installed"],
];

/** A test for each way to open a terminal; for one that this machine does not have, an ignored test that says so. */
export function testOnEachTerminal(name: string, work: (terminal: Terminal) => Promise<void>): void {
  for (const terminal of terminals) Deno.test(`${name} (${terminal.name})`, () => work(terminal));
  for (const why of MISSING) Deno.test.ignore(`${name} (ignored: ${why})`, () => {});
}

/** A test in the first of these terminals, which is enough for what a program writes; in each of them at full counts. */
export function testOnFirstTerminal(name: string, work: (terminal: Terminal) => Promise<void>): void {
  const [first] = terminals;
  if (isFullSize || first === undefined) testOnEachTerminal(name, work);
  else Deno.test(`${name} (${first.name})`, () => work(first));
}

async function answers([command = "", ...args]: Words, expected: string): Promise<boolean> {
  try {
    const { code, stdout } = await new Deno.Command(command, { args: [...args], stderr: "null" }).output();
    return code === 0 && new TextDecoder().decode(stdout).includes(expected);
  } catch {
    return false;
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
