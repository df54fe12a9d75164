/** The question whether a tool call may run, with all of its arguments. */
import type { Dialogue, LineEditor } from "../../terminal/editor/line_editor.ts";
import { escapeUnseen, inWrittenOrder } from "../../text/safe_text.ts";
import { countOf } from "../../text.ts";

/** The characters of a call's arguments that are shown first, and with each `more`. */
const FIRST_PAGE_LENGTH = 1_000;
const NEXT_PAGE_LENGTH = 4_000;
/** The meaning of an answer; any other answer means no. */
const DECISIONS: ReadonlyMap<string, "yes" | "always"> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["a", "always"],
  ["always", "always"],
]);

export interface CallToRun {
  /** Who calls which tool, safe to print: `Agent "bot" calls "delete" of "files"`. */
  readonly call: string;
  /** The tool alone, safe to print, for the pages after the first one. */
  readonly callAgain: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly hasAlways: boolean;
}

/** What was decided: `no` also for Ctrl-D, `cancelled` for Ctrl-C and a call that has ended. */
export type CallDecision = "yes" | "always" | "no" | "cancelled";

/**
 * Asks whether a call may run. The whole call is shown, with nothing replaced or left out; a call that is longer than a
 * page can be allowed only after its last page was shown.
 */
export async function askToRun(
  editor: Pick<LineEditor, "converse">,
  call: CallToRun,
): Promise<CallDecision> {
  const pages = new CallPages(call);
  const end = await editor.converse(pages);
  if (end === "answered") return pages.decision;
  return end === "declined" ? "no" : "cancelled";
}

class CallPages implements Dialogue {
  readonly #call: CallToRun;
  readonly #params: string;
  #start = 0;
  #end = FIRST_PAGE_LENGTH;
  decision: "yes" | "always" | "no" = "no";

  constructor(call: CallToRun) {
    this.#call = call;
    this.#params = JSON.stringify(call.params);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get first(): Dialogue["first"] {
    return this.#page(`${this.#call.call} with `);
  }

  readonly next = (typed: string): Dialogue["first"] | undefined => {
    const answer = typed.trim().toLowerCase();
    const decision = DECISIONS.get(answer);
    const isAllowed = decision === "yes" || decision === "always" && this.#call.hasAlways;
    if (this.#left === 0) {
      this.decision = isAllowed && decision !== undefined ? decision : "no";
      return undefined;
    }
    // A yes before the last page shows the next page and asks again.
    if (!isAllowed && answer !== "m" && answer !== "more") return undefined;
    this.#start = this.#end;
    this.#end += NEXT_PAGE_LENGTH;
    return this.#page(`${this.#call.callAgain}, continued: `);
  };

  get #left(): number {
    return Math.max(0, this.#params.length - this.#end);
  }

  #page(head: string): Dialogue["first"] {
    const shown = inWrittenOrder(escapeUnseen(this.#params.slice(this.#start, this.#end)));
    const options = this.#left === 0
      ? `Run it? [y]es, ${this.#call.hasAlways ? "[a]lways, " : ""}[N]o: `
      : `${countOf(this.#left, "more character")} left to show before it can run. [m]ore, [N]o: `;
    return { text: `${head}${shown}${this.#left === 0 ? "" : "…"}\n${options}` };
  }
}
