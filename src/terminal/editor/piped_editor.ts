/** A prompt without a terminal: it reads the lines of a script from standard input. */
import { onAbort } from "../../async/abortable.ts";
import { readLines } from "../../async/lines.ts";
import { printable } from "../../text/safe_text.ts";
import { type Dialogue, type Interruption, type LineEditor, NoTerminalError } from "./line_editor.ts";

const MAX_LINE_BYTES = 1 << 20;

/** Reads lines without a prompt and without echo. Questions fail with {@linkcode NoTerminalError}. */
export class PipedEditor implements LineEditor {
  readonly #lines: AsyncGenerator<string, undefined>;

  /** @param input Standard input by default. */
  constructor(input: ReadableStream<Uint8Array> = Deno.stdin.readable) {
    this.#lines = readLines(input, MAX_LINE_BYTES);
  }

  async read(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<string | undefined> {
    const { signal } = options;
    if (signal?.aborted) return undefined;
    const aborted = Promise.withResolvers<undefined>();
    using _ = onAbort(signal, () => aborted.resolve(undefined));
    return (await Promise.race([this.#lines.next(), aborted.promise]))?.value;
  }

  converse({ first }: Dialogue): Promise<never> {
    const [question] = printable(first.text).trimEnd().split("\n").slice(-1);
    return Promise.reject(new NoTerminalError(`Cannot ask "${question}": standard input is not a terminal`));
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
