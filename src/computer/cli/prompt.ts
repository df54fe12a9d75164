/** The prompt of a Computer: commands with history, completion and help, while it works. */
import { completeLine } from "../../cli/completion.ts";
import { fileCandidates } from "../../cli/file_candidates.ts";
import { splitWords } from "../../cli/words.ts";
import { failureText, toFailure } from "../../cli/failure.ts";
import type { LineEditor } from "../../cli/terminal/line_editor.ts";
import { showProgress } from "../../cli/terminal/progress.ts";
import { currentScreen } from "../../cli/terminal/screen.ts";
import { inputOf } from "./answers/inputs.ts";
import { askForInput } from "./questions.ts";
import { buildCommands, runWords, type Typist } from "./run_words.ts";
import type { Session } from "./session.ts";

/** Lines that may hold a secret are not remembered. */
const SECRET_LINE = /^\s*input\s+set\s+\S+\s+\S|--(token|auth|header|env)\b/;

/** Whether a typed line may be kept in the history. */
export function isKeptLine(line: string): boolean {
  return !SECRET_LINE.test(line);
}

/** Takes commands until the session is to end. */
export async function runPrompt(session: Session, editor: LineEditor): Promise<void> {
  const { quitting } = session;
  while (!quitting.aborted) {
    const line = await editor.read({ signal: quitting });
    if (line === undefined) return session.quit();
    await runLine(line, { session, editor });
  }
}

/** Runs one typed line; Ctrl-C ends the command, not the program. */
export async function runLine(
  line: string,
  { session, editor }: { readonly session: Session; readonly editor: LineEditor },
): Promise<void> {
  const words = readWords(line, editor);
  const [name] = words;
  if (name === undefined || name.startsWith("#")) return;
  using interruption = editor.listenForInterrupt();
  using progress = showProgress(name);
  await runWords(words, {
    ...typistOf(session, editor),
    signal: AbortSignal.any([interruption.signal, session.quitting]),
    progress: (text) => progress.update(text),
  });
}

/** What may come next on a line. */
export async function completePrompt(line: string, session: Session): Promise<string[]> {
  const typist = { session, presentation: { json: false, screen: undefined }, print() {}, printError() {} };
  const program = buildCommands({ ...typist, signal: new AbortController().signal, progress() {} });
  return await completeLine(program, line, {
    candidates: ({ argument, word }) => candidates(session, { argument, word }),
  });
}

async function candidates(
  session: Session,
  { argument, word }: { readonly argument: string; readonly word: string },
): Promise<string[]> {
  const { computer } = session;
  switch (argument) {
    case "server":
    case "--mcp-server":
      return [...computer.servers.keys()];
    case "tool":
      return computer.tools.map(({ name }) => name);
    case "input":
      return session.store.config.inputs.map(({ id }) => id);
    case "uri":
    case "--window":
      return computer.uris;
    case "--cwd":
      return await fileCandidates(word);
    default:
      return [];
  }
}

function readWords(line: string, editor: LineEditor): string[] {
  try {
    return splitWords(line);
  } catch (error) {
    editor.print(failureText(toFailure(error)));
    return [];
  }
}

function typistOf(session: Session, editor: LineEditor): Omit<Typist, "signal" | "progress"> {
  return {
    session,
    presentation: { json: false, screen: currentScreen() },
    print: (text) => editor.printDrawn(text),
    printError: (text) => editor.printDrawn(text),
    askFor: (id) => askForInput(editor, inputOf(session, id), {}),
  };
}
