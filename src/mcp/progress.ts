/** The progress of tool calls: each call has a token, and `notifications/progress` with that token belong to it. */
import { Throttle } from "../async/throttle.ts";
import { isRecord } from "../json/json.ts";
import { shorten } from "../text/text.ts";
import type { Progress } from "./call_options.ts";
import type { WarnOnce } from "./warn_once.ts";

/** The length to which a message is cut, in characters; it is masked and cut further before it is sent. */
const MAX_MESSAGE_LENGTH = 16_384;
/** The shortest time between two reports of one call, in milliseconds. Of those in between, the last one counts. */
const REPORT_INTERVAL_MS = 100;

/** The progress of one call, until it is disposed of. */
export interface OpenProgress extends Disposable {
  /** To be sent as `_meta.progressToken`. */
  readonly token: number;
  /** Reports a text that comes from elsewhere, for a server that reports no progress; each new text counts as 1. */
  readonly note: (text: string) => void;
}

export class ProgressReports {
  readonly #warnOnce: WarnOnce;
  readonly #open = new Map<number, ProgressReport>();
  #lastToken = 0;

  constructor(warnOnce: WarnOnce) {
    this.#warnOnce = warnOnce;
  }

  open(onProgress: (progress: Progress) => void): OpenProgress {
    const token = ++this.#lastToken;
    const report = new ProgressReport((params) => {
      const progress = readProgress(params);
      if (progress !== undefined) return onProgress(progress);
      this.#warnOnce.warn("dropped a progress notification of the MCP server: wrong shape");
    });
    this.#open.set(token, report);
    return {
      token,
      note: (text) => report.note(text),
      [Symbol.dispose]: () => {
        this.#open.delete(token);
        report.close();
      },
    };
  }

  /** Takes the parameters of a `notifications/progress`. Drops those of a call that has ended, or that never was. */
  receive(params: unknown): void {
    if (!isRecord(params)) return;
    const { progressToken: token } = params;
    // Some servers send the token back as a text. To make a number of anything else may throw.
    if (typeof token === "number" || typeof token === "string") {
      this.#open.get(Number(token))?.receive(params);
    }
  }
}

/** Passes on the newest parameters of one call at a limited rate; those that are replaced are never read. */
class ProgressReport {
  readonly #throttle: Throttle;
  readonly #report: (params: unknown) => void;
  #newest: unknown;
  #isTold = true;
  #isReporting = false;
  #noted = { count: 0, text: "" };

  constructor(report: (params: unknown) => void) {
    this.#report = report;
    this.#throttle = new Throttle(() => this.#tell(), REPORT_INTERVAL_MS);
  }

  receive(params: unknown): void {
    this.#isReporting = true;
    this.#take(params);
  }

  note(text: string): void {
    if (this.#isReporting || text === this.#noted.text) return;
    this.#noted = { count: this.#noted.count + 1, text };
    this.#take({ progress: this.#noted.count, message: text });
  }

  /** Passes on what came before the end. */
  close(): void {
    this.#throttle.close();
    this.#tell();
  }

  #take(params: unknown): void {
    this.#newest = params;
    this.#isTold = false;
    this.#throttle.request();
  }

  #tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#report(this.#newest);
  }
}

/** Reads progress; `undefined` when it has another shape. A `total` that cannot be one, such as 0, is left out. */
export function readProgress(params: unknown): Progress | undefined {
  const { progress, total, message } = isRecord(params) ? params : {};
  if (typeof progress !== "number" || !Number.isFinite(progress)) return undefined;
  if (total !== undefined && total !== null && typeof total !== "number") return undefined;
  if (message !== undefined && message !== null && typeof message !== "string") return undefined;
  return {
    progress,
    ...(typeof total === "number" && Number.isFinite(total) && total > 0 ? { total } : {}),
    ...(typeof message === "string" && message !== ""
      ? { message: shorten(message, MAX_MESSAGE_LENGTH) }
      : {}),
  };
}
