/**
 * A program in a real pseudo-terminal, with a test at the keyboard:
 *
 * ```ts ignore
 * await using session = openTerminalSession(command, { columns: 60 });
 * await session.expect("> ");            // waits until it has come
 * await session.write(`sta${Key.tab}`);  // presses keys
 * await session.expectScreen(/^> status $/m);
 * await session.write(`${Key.enter}${Key.ctrlD}`);
 * assertEquals(await session.expectExit(), 0);
 * ```
 *
 * Nothing sleeps: each wait ends when what is waited for is there, and fails when the program ends or, as a last
 * resort, after {@linkcode DEADLINE_MS}.
 */
import { assert } from "@std/assert";
import { descendants } from "./_processes.ts";
import { TerminalScreen, withoutCommands } from "./_terminal_screen.ts";
import { type Terminal, terminals, type Words } from "./_terminal.ts";

/** How long a program may take to do what a test waits for. Only ever reached by a failure. */
const DEADLINE_MS = 120_000;

/** What a terminal sends for a key. */
export const Key = {
  enter: "\r",
  tab: "\t",
  backspace: "\u007f",
  escape: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  ctrlA: "\u0001",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlE: "\u0005",
  ctrlL: "\u000c",
  ctrlR: "\u0012",
  ctrlU: "\u0015",
  ctrlZ: "\u001a",
} as const;

/** How a session is opened. */
export interface SessionOptions {
  /** The width of the terminal; 80 by default. */
  readonly columns?: number;
  /** Beside the environment of the test; `TERM` is `xterm` by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Which of {@linkcode terminals}; the last by default. */
  readonly terminal?: Terminal | undefined;
}

/** Opens a terminal and starts a program in it. Tests without a terminal: see {@linkcode testOnTerminal}. */
export function openTerminalSession(command: Words, options: SessionOptions = {}): TerminalSession {
  return new TerminalSession(command, options);
}

/** A test that needs a terminal; ignored, and said so, where there is none to open. */
export function testOnTerminal(name: string, work: () => Promise<void>): void {
  const why = "ignored: neither script of util-linux nor python3 with pty is here to open a terminal";
  if (terminals.length > 0) Deno.test(name, work);
  else Deno.test.ignore(`${name} (${why})`, () => {});
}

type Wait = () => boolean;

/** A program in a terminal. */
export class TerminalSession implements AsyncDisposable {
  readonly #exited: Promise<number>;
  readonly #child: Deno.ChildProcess;
  readonly #keyboard: WritableStreamDefaultWriter<Uint8Array>;
  readonly #screen: TerminalScreen;
  #output = "";
  #rest = "";
  #seen = 0;
  #more = Promise.withResolvers<void>();
  #hasEnded = false;

  constructor(command: Words, { columns = 80, env = {}, terminal = terminals.at(-1) }: SessionOptions) {
    assert(terminal !== undefined, "no terminal on this machine");
    const [program = "", ...args] = terminal.wrap(command, columns);
    this.#child = new Deno.Command(program, {
      args,
      env: { TERM: "xterm", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#keyboard = this.#child.stdin.getWriter();
    this.#screen = new TerminalScreen(columns);
    this.#exited = this.#read();
  }

  /** Presses keys; see {@linkcode Key} for those without a letter. */
  async write(keys: string): Promise<void> {
    await this.#keyboard.write(new TextEncoder().encode(keys));
  }

  /**
   * Waits for text in what the program has written since the last `expect`, and resolves to all of that up to the
   * text's end. Commands to the terminal are taken out, and a line ends with `\n`.
   */
  async expect(expected: string | RegExp): Promise<string> {
    let end = -1;
    await this.#until(() => {
      const text = withoutCommands(this.#output).slice(this.#seen);
      const found = typeof expected === "string" ? text.indexOf(expected) : text.search(expected);
      if (found < 0) return false;
      const length = typeof expected === "string"
        ? expected.length
        : text.slice(found).match(expected)?.[0].length;
      end = this.#seen + found + (length ?? 0);
      return true;
    }, expected);
    const text = withoutCommands(this.#output).slice(this.#seen, end);
    this.#seen = end;
    return text;
  }

  /** Waits until the screen shows a text, or is as the function wants it; resolves to the screen. */
  async expectScreen(expected: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    await this.#until(() => {
      const screen = this.screen();
      if (typeof expected === "string") return screen.includes(expected);
      return typeof expected === "function" ? expected(screen) : expected.test(screen);
    }, expected);
    return this.screen();
  }

  /** Waits for the program's end, and resolves to its exit code. Everything that it wrote is there then. */
  async expectExit(): Promise<number> {
    await this.#until(() => this.#hasEnded, "the program's end");
    return await this.#exited;
  }

  /** What a person sees, without spaces at the ends of lines and empty lines at the end. */
  screen(): string {
    return this.#screen.text;
  }

  /** Every character that the program has sent to the terminal, commands included. */
  output(): string {
    return this.#output;
  }

  /** The program, and all processes that it has started. */
  processes(): Promise<number[]> {
    return descendants(this.#child.pid);
  }

  /** Makes the terminal wider or narrower; the program is told by its system. */
  async resize(columns: number): Promise<void> {
    // All are asked: a command of the program may have ended by now.
    const pids = (await this.processes()).join(",");
    const { stdout } = await new Deno.Command("ps", { args: ["-o", "tty=", "-p", pids] }).output();
    const ttys = new TextDecoder().decode(stdout).split("\n").map((tty) => tty.trim());
    const device = `/dev/${ttys.findLast((tty) => tty !== "" && tty !== "?")}`;
    const { success } = await new Deno.Command("stty", { args: ["-F", device, "cols", `${columns}`] })
      .output();
    assert(success, `cannot resize ${device}`);
    this.#screen.columns = columns;
  }

  /** Takes the terminal away from the program, if it has not ended by itself. */
  async close(): Promise<void> {
    // Not asked, since script would wait for the program; the program hears that its terminal hung up.
    try {
      if (!this.#hasEnded) this.#child.kill("SIGKILL");
    } catch {
      // It has ended in this moment.
    }
    await this.#exited;
    await this.#keyboard.close().catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #read(): Promise<number> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#child.stdout) {
      const text = decoder.decode(bytes, { stream: true });
      this.#output += text;
      this.#rest = this.#screen.write(this.#rest + text);
      this.#wake();
    }
    const { code } = await this.#child.status;
    this.#hasEnded = true;
    this.#wake();
    return code;
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  async #until(isThere: Wait, expected: unknown): Promise<void> {
    const late = Promise.withResolvers<void>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      late.resolve();
    }, DEADLINE_MS);
    try {
      while (!isThere()) {
        const why = this.#hasEnded
          ? "the program has ended"
          : isLate
          ? `not in ${DEADLINE_MS} ms`
          : undefined;
        assert(why === undefined, `${why}: ${expected}\n--- screen ---\n${this.screen()}\n--- end ---`);
        await Promise.race([this.#more.promise, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
