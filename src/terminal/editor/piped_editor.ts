/** A prompt without a person: the lines of a script. */
import { readLines } from "./piped_lines.ts";
import type { Interruption, LineEditor } from "./line_editor.ts";
import { printable } from "../safe_text.ts";
import { terminalBottom } from "../bottom_line.ts";

/** Somebody was to be asked, and standard input is no terminal. */
export class NoTerminalError extends Error {
  override readonly name = "NoTerminalError";
  readonly code = "NO_TERMINAL";
}

/** Reads lines from standard input, without prompt or echo. */
export class PipedEditor implements LineEditor {
  readonly #lines: AsyncGenerator<string, undefined>;

  /** @param input Another script than standard input. */
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
    return Promise.reject(new NoTerminalError(`Cannot ask "${question}": standard input is no terminal`));
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

  /** The signal of the system goes to the process: there are no keys here. */
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
