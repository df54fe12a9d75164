// The prompt of `computer.ts` in a real terminal, with a test at the keyboard.

import { assertEquals } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { doorWords } from "../fixtures/door.ts";
import { Workplace } from "./_computer_program.ts";
import { Key, openTerminalSession, type TerminalSession, testOnTerminal } from "./_terminal_session.ts";

/** A folder, and Computers in terminals that end with the test. */
export interface Sitting {
  readonly place: Workplace;
  /** Opens a prompt with this configuration, and with these arguments beside `--name laptop`. */
  open(options: PromptOptions): Promise<TerminalSession>;
}

/** What a prompt is opened with. */
export interface PromptOptions {
  readonly config?: unknown;
  readonly args?: readonly string[];
  readonly columns?: number;
}

/** A test at a prompt. */
export function testPrompt(name: string, work: (sitting: Sitting) => Promise<void>): void {
  testOnTerminal(name, async () => {
    await using cleanUp = new AsyncDisposableStack();
    const place = cleanUp.use(new Workplace());
    const open = async ({ config, args = [], columns = 100 }: PromptOptions) => {
      const file = config === undefined ? [] : ["--config", place.write("config.json", config)];
      const command = doorWords("computer.ts", ["--name", "laptop", ...file, ...args]);
      const session = cleanUp.use(openTerminalSession(command, { columns, env: place.env }));
      await session.expect("Ctrl-D quits.\n");
      return session;
    };
    await work({ place, open });
  });
}

/** Types a line at the prompt that is shown; resolves to what then stood on the screen before the next one. */
export async function enter(session: TerminalSession, line: string): Promise<string> {
  const before = await session.expectScreen(PROMPT);
  await session.write(`${line}${Key.enter}`);
  const screen = await session.expectScreen((screen) =>
    /\nlaptop(@\w+)?>$/.test(screen.slice(before.length))
  );
  const said = screen.slice(before.length);
  return said.slice(said.indexOf("\n") + 1, said.lastIndexOf("\n") + 1);
}

const PROMPT = /(^|\n)laptop(@\w+)?>$/;

/** Ends the prompt. */
export async function leave(session: TerminalSession): Promise<void> {
  await session.write(`${Key.ctrlU}${Key.ctrlD}`);
  assertEquals(await session.expectExit(), 0);
}

/** A scripted server that needs inputs, each in a variable of its environment. */
export function needing(...inputs: readonly string[]): Record<string, unknown> {
  const server = scripted({ tools: [{ name: "greet", inputSchema: { type: "object" } }] });
  const env = Object.fromEntries(inputs.map((id, i) => [`V${i}`, `\${input:${id}}`]));
  return { ...server, server_parameters: { ...Object(server["server_parameters"]), env } };
}
