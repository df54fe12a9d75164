/** Questions for tests, and a person who answers them. */
import { readForm } from "../../../../src/protocol/question_form.ts";
import type { Dialogue } from "../../../../src/terminal/editor/line_editor.ts";
import type { ShownForm, ShownQuestion } from "../../../../src/cli/questions/shown_question.ts";

/** What every question of the tests has. */
export const BASE = {
  asker: { server: "shop", tool: "order", caller: { agent: "bot", claimedAgent: "bot" } },
  message: "Where to?",
  problems: [],
  timeLeftMs: 600_000,
  signal: new AbortController().signal,
} as const;

/** A form with these fields, as an MCP server writes them. */
export function formOf(
  properties: Readonly<Record<string, unknown>>,
  members: Partial<ShownQuestion> & { readonly required?: readonly string[] } = {},
): ShownForm {
  const { required = [], ...rest } = members;
  const schema = { type: "object", properties, required };
  return { ...BASE, ...rest, mode: "form", fields: readForm(schema), schema };
}

/** Types these lines; gives what was shown. Throws when the dialogue ends too early. */
export function type(dialogue: Dialogue, ...lines: readonly string[]): string[] {
  let asked: Dialogue["first"] | undefined = dialogue.first;
  const shown = [asked.text];
  for (const line of lines) {
    if (asked === undefined) throw new TypeError(`Cannot type "${line}": nothing is asked`);
    const complaint = asked.check?.(line);
    if (complaint === undefined) asked = dialogue.next(line);
    shown.push(complaint ?? asked?.text ?? "");
  }
  return shown;
}
