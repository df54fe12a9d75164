/** The question whether a tool call may run, with all of its arguments. */
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
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
  { call, callAgain, params, signal, hasAlways }: CallToRun,
): Promise<CallDecision> {
  const text = JSON.stringify(params);
  let decision: "yes" | "always" | "no" = "no";
  let end = 0;
  const left = () => Math.max(0, text.length - end);
  const nextPage = (head: string, length: number) => {
    const shown = inWrittenOrder(escapeUnseen(text.slice(end, end + length)));
    end += length;
    const options = left() === 0
      ? `Run it? [y]es, ${hasAlways ? "[a]lways, " : ""}[N]o: `
      : `${countOf(left(), "more character")} left to show before it can run. [m]ore, [N]o: `;
    return { text: `${head}${shown}${left() === 0 ? "" : "…"}\n${options}` };
  };
  const next = (typed: string) => {
    const answer = typed.trim().toLowerCase();
    const decided = DECISIONS.get(answer);
    const isAllowed = decided === "yes" || decided === "always" && hasAlways;
    if (left() === 0) {
      if (isAllowed) decision = decided;
      return undefined;
    }
    // A yes before the last page shows the next page and asks again.
    if (!isAllowed && answer !== "m" && answer !== "more") return undefined;
    return nextPage(`${callAgain}, continued: `, NEXT_PAGE_LENGTH);
  };
  const ended = await editor.converse({ first: nextPage(`${call} with `, FIRST_PAGE_LENGTH), next, signal });
  if (ended === "answered") return decision;
  return ended === "declined" ? "no" : "cancelled";
}
