/** A prompt without a terminal: it reads the lines of a script from standard input. */
import { printable } from "../safe_text.ts";
import { terminalBottom } from "../bottom_line.ts";
import { type Interruption, type LineEditor, NoTerminalError } from "./line_editor.ts";

/** The longest line of a script, in characters. */
const MAX_LINE_LENGTH = 1 << 20;

/**
 * The lines of a stream of UTF-8, without their line ends; the last line need not have one. It holds at most one line
 * and one chunk in memory.
 *
 * @throws {RangeError} for a line of more than 1,048,576 characters.
 */
export async function* readLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.map(withoutReturn);
    if (rest.length > MAX_LINE_LENGTH) {
      throw new RangeError(`Cannot read standard input: a line has more than ${MAX_LINE_LENGTH} characters`);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.replace(/\r$/, "");
}

/** Reads lines without a prompt and without echo. Questions fail with {@linkcode NoTerminalError}. */
export class PipedEditor implements LineEditor {
  readonly #lines: AsyncGenerator<string, undefined>;

  /** @param input Standard input by default. */
  constructor(input: ReadableStream<Uint8Array> = Deno.stdin.readable) {
    this.#lines = readLines(input);
  }

  async read(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<string | undefined> {
    const { signal } = options;
    if (signal?.aborted) return undefined;
    const aborted = Promise.withResolvers<undefined>();
    const onAbort = () => aborted.resolve(undefined);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return (await Promise.race([this.#lines.next(), aborted.promise]))?.value;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  ask({ text }: { readonly text: string }): Promise<never> {
    const [question] = printable(text).trimEnd().split("\n").slice(-1);
    return Promise.reject(new NoTerminalError(`Cannot ask "${question}": standard input is not a terminal`));
  }

  choose(question: { readonly text: string }): Promise<never> {
    return this.ask(question);
  }

  print(text: string): void {
    this.printDrawn(printable(text));
  }

  printDrawn(picture: string): void {
    terminalBottom.writeAbove(() => console.log(picture));
  }

  redraw(): void {}

  /** Never aborted: without a keyboard, Ctrl-C is a signal to the process. */
  listenForInterrupt(): Interruption {
    return { signal: new AbortController().signal, [Symbol.dispose]() {} };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
