/** Answers questions by asking a person at a terminal. */
import type { Answer, FieldValue } from "../../protocol/questions.ts";
import { type DialogueEnd, type LineEditor, NoTerminalError } from "../../terminal/editor/line_editor.ts";
import { consoleColumns } from "../../terminal/screen.ts";
import type { UseEditor } from "../lazy_editor.ts";
import { askToRun, type CallDecision } from "./approval.ts";
import { FormDialogue } from "./form.ts";
import { askToOpen } from "./page.ts";
import { type ShownApproval, type ShownForm, type ShownQuestion, toShownName } from "./shown_question.ts";

type Prompt = Pick<LineEditor, "converse">;

export interface AskingOptions {
  /** Values that an empty line stands for, in place of the defaults of a form. */
  readonly presets?: Readonly<Record<string, FieldValue>> | undefined;
}

/** Asks a person; `undefined` when there is none. */
export type AskPerson = (question: ShownQuestion, options?: AskingOptions) => Promise<Answer | undefined>;

export function askBy(useEditor: UseEditor): AskPerson {
  return (question, options) =>
    useEditor(async (editor) => {
      try {
        return await askAt(editor, question, options);
      } catch (error) {
        if (error instanceof NoTerminalError) return undefined;
        throw error;
      }
    });
}

/** Asks a question. Ctrl-C and the end of the call cancel it, Ctrl-D declines it. */
export async function askAt(
  editor: Prompt,
  question: ShownQuestion,
  options: AskingOptions = {},
): Promise<Answer> {
  switch (question.mode) {
    case "form":
      return await askForm(editor, question, options);
    case "url": {
      const { end, isAccepted } = await askToOpen(editor, question, { columns: consoleColumns() });
      return toAnswer(end, isAccepted ? { action: "accept" } : undefined);
    }
    case "approval":
      return DECISIONS[await askToRun(editor, toCall(question))];
  }
}

async function askForm(editor: Prompt, form: ShownForm, { presets }: AskingOptions): Promise<Answer> {
  const dialogue = new FormDialogue(form, { columns: consoleColumns(), presets });
  const end = await editor.converse(dialogue);
  const { content } = dialogue;
  return toAnswer(end, content === undefined ? undefined : { action: "accept", content });
}

/** Without an answer of its own, a dialogue that was answered ended with a no. */
function toAnswer(end: DialogueEnd, accepted: Answer | undefined): Answer {
  if (end === "answered") return accepted ?? { action: "decline" };
  return { action: end === "declined" ? "decline" : "cancel" };
}

const DECISIONS: Readonly<Record<CallDecision, Answer>> = {
  yes: { action: "accept" },
  always: { action: "accept" },
  no: { action: "decline" },
  cancelled: { action: "cancel" },
};

function toCall({ asker, params, signal }: ShownApproval) {
  const { computer, server, tool } = asker;
  const callAgain = server === undefined
    ? toShownName(tool)
    : `${toShownName(tool)} of ${toShownName(server)}`;
  const who = computer === undefined ? "The Computer" : `Computer ${toShownName(computer)}`;
  return { call: `${who} asks whether to run ${callAgain}`, callAgain, params, signal, hasAlways: false };
}
