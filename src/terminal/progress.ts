/** Progress of a long operation, on the bottom line of the terminal. */
import { clearTimeout, setInterval, setTimeout } from "node:timers";
import { type TerminalBottom, terminalBottom } from "./bottom_line.ts";
import { cropToWidth } from "./display_width.ts";
import { toSafeLine } from "../text/safe_text.ts";
import {
  COLORS,
  consoleColumns,
  hasColors,
  isDumbTerminal,
  type Palette,
  PLAIN,
  writeIfOpen,
} from "./screen.ts";

/** Shorter operations are not shown, to avoid flicker. */
const DELAY_MS = 200;
const FRAME_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** The progress line of one operation. Dispose of it when the operation ends. */
export interface Progress extends Disposable {
  /** Changes the detail, such as `3 of 5`. Control characters in it are made harmless. */
  update(detail: string): void;
}

export interface ProgressOutput {
  readonly columns: number;
  readonly palette: Palette;
  readonly bottom: TerminalBottom;
  write(text: string): void;
}

/**
 * Shows a line with a text and the elapsed time, until it is disposed of. It appears after 200 ms. Nothing is shown when
 * standard error is not a terminal.
 *
 * @param text The operation, such as `connecting`.
 * @param output The terminal; that of standard error by default.
 */
export function showProgress(text: string, output: ProgressOutput | undefined = ownOutput()): Progress {
  return output === undefined ? { update() {}, [Symbol.dispose]() {} } : new ProgressLine(text, output);
}

export function drawProgress(
  progress: { readonly text: string; readonly detail: string; readonly elapsedMs: number },
  { columns, palette }: Pick<ProgressOutput, "columns" | "palette">,
): string {
  const { text, detail, elapsedMs } = progress;
  const sign = FRAMES[Math.floor(elapsedMs / FRAME_MS) % FRAMES.length] ?? "";
  const words = [text, detail].map(toSafeLine).filter((each) => each !== "").join("  ");
  const seconds = `  ${Math.floor(elapsedMs / 1000)} s`;
  // The last column stays free, because some terminals wrap when it is written.
  const free = Math.max(0, columns - 1 - sign.length - 1 - seconds.length);
  return `${palette.accent(sign)} ${cropToWidth(words, free)}${palette.faint(seconds)}`;
}

class ProgressLine implements Progress {
  readonly #text: string;
  readonly #output: ProgressOutput;
  readonly #startMs = performance.now();
  #detail = "";
  #timer: ReturnType<typeof setTimeout>;

  constructor(text: string, output: ProgressOutput) {
    this.#text = text;
    this.#output = output;
    this.#timer = setTimeout(() => this.#appear(), DELAY_MS).unref();
  }

  update(detail: string): void {
    this.#detail = detail;
    this.#output.bottom.refresh(this);
  }

  draw(): void {
    const elapsedMs = performance.now() - this.#startMs;
    this.#output.write(drawProgress({ text: this.#text, detail: this.#detail, elapsedMs }, this.#output));
  }

  erase(): void {
    this.#output.write("\r\u001b[2K");
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#output.bottom.removeProgress(this);
  }

  #appear(): void {
    this.#timer = setInterval(() => this.#output.bottom.refresh(this), FRAME_MS).unref();
    this.#output.bottom.addProgress(this);
  }
}

function ownOutput(): ProgressOutput | undefined {
  if (!Deno.stderr.isTerminal() || isDumbTerminal()) return undefined;
  return {
    get columns() {
      return consoleColumns();
    },
    palette: hasColors() ? COLORS : PLAIN,
    bottom: terminalBottom,
    write: (text) => writeIfOpen(() => void Deno.stderr.writeSync(new TextEncoder().encode(text))),
  };
}
