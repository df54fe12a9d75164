/** What a long operation is doing, at the bottom of the terminal. */
import { clearTimeout, setInterval, setTimeout } from "node:timers";
import { type TerminalBottom, terminalBottom } from "./bottom_line.ts";
import { cropToWidth } from "./display_width.ts";
import { toSafeLine } from "./safe_text.ts";
import { COLORS, consoleColumns, hasColors, isDumbTerminal, type Palette, PLAIN } from "./screen.ts";

/** What is quicker is not shown, so that nothing flickers. */
const DELAY_MS = 200;
const FRAME_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** A long operation on show. It is over when it is disposed of. */
export interface Progress extends Disposable {
  /** Says what is done now, such as `3 of 5`; strangers' words are made harmless. */
  update(detail: string): void;
}

/** Where progress is shown; standard error by default. */
export interface ProgressOutput {
  readonly columns: number;
  readonly palette: Palette;
  readonly bottom: TerminalBottom;
  write(text: string): void;
}

/**
 * Shows a line with what is going on and for how long, until it is disposed of. It appears after 200 ms; what is
 * printed meanwhile goes above it. Nothing is shown where standard error is no terminal.
 *
 * @param text What is going on, such as `starting MCP servers`.
 * @param output Another terminal than that of this process.
 */
export function showProgress(text: string, output: ProgressOutput | undefined = ownOutput()): Progress {
  return output === undefined ? { update() {}, [Symbol.dispose]() {} } : new ProgressLine(text, output);
}

/** One frame: a moving sign, what is going on, and the seconds since its beginning. */
export function drawProgress(
  progress: { readonly text: string; readonly detail: string; readonly elapsedMs: number },
  { columns, palette }: Pick<ProgressOutput, "columns" | "palette">,
): string {
  const { text, detail, elapsedMs } = progress;
  const sign = FRAMES[Math.floor(elapsedMs / FRAME_MS) % FRAMES.length] ?? "";
  const words = [text, detail].map(toSafeLine).filter((each) => each !== "").join("  ");
  const seconds = `  ${Math.floor(elapsedMs / 1000)} s`;
  // The last column stays free: a terminal might go to its next line there.
  const room = Math.max(0, columns - 1 - sign.length - 1 - seconds.length);
  return `${palette.accent(sign)} ${cropToWidth(words, room)}${palette.faint(seconds)}`;
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
    write: (text) => void Deno.stderr.writeSync(new TextEncoder().encode(text)),
  };
}
