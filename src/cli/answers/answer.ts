/** What a command answers, in all the forms in which it may be shown. */
import { printable, toSafeJson } from "../../terminal/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";

/** An answer. */
export interface Answer {
  /** For programs. */
  readonly value: unknown;
  /** For a file or a pipe, and for a terminal without a picture. */
  readonly text: string;
  /** Whether the text is what a tool or a resource gave, which a file or a pipe gets as it is; false by default. */
  readonly isVerbatim?: boolean | undefined;
  /** For a terminal, where there is more to see than text. */
  readonly draw?: ((screen: Screen) => string | undefined) | undefined;
  /** Why the command counts as failed although it has an answer. */
  readonly failure?: string | undefined;
  /** The protocol's code for that. */
  readonly code?: number | undefined;
}

/** How an answer is shown. */
export interface Presentation {
  /** JSON in place of text. */
  readonly json: boolean;
  /** The terminal to draw pictures on, if there is one. */
  readonly screen: Screen | undefined;
}

/** Whatever the form, nothing that strangers wrote can command a terminal. */
export function presentAnswer(answer: Answer, { json, screen }: Presentation): string {
  const { value, text, draw, isVerbatim = false } = answer;
  if (json) return toSafeJson(value, 2);
  if (screen === undefined) return isVerbatim ? text : printable(text);
  return draw?.(screen) ?? printable(text);
}
