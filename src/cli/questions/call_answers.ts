/** Who answers the questions of one call: the options of the command line, the person who typed it, or nobody. */
import type { QuestionField } from "../../protocol/question_form.ts";
import type { Answer } from "../../protocol/questions.ts";
import { toSafeLine } from "../../terminal/safe_text.ts";
import { shorten } from "../../text.ts";
import type { GivenAnswers } from "./given_answers.ts";
import { type AnswerShown, describeAsker, type ShownForm, type ShownQuestion } from "./shown_question.ts";
import type { AskingOptions, AskPerson } from "./terminal_answers.ts";

/** The most characters of a message in a note. */
const MAX_MESSAGE_LENGTH = 300;

/** Where a call was typed. */
export interface CallPlace {
  /** Asks the person who typed it. */
  readonly ask: AskPerson;
  /** Tells of a question that was declined, because nobody could be asked. */
  readonly note: (note: DeclinedNote) => void;
}

/** What is told of a declined question: to people, and to programs. */
export interface DeclinedNote {
  /** Safe to print, on one line. */
  readonly text: string;
  readonly value: unknown;
}

/** What the options of a call say about its questions. */
export interface AnswerOptions {
  readonly given: GivenAnswers;
  /** Whether calls that need an approval are approved. */
  readonly isApproved: boolean;
}

/** Answers the questions of a call: by the options if they suffice, else by the person. Without either it declines. */
export function answerCall(options: AnswerOptions, { ask, note }: CallPlace): AnswerShown {
  return async (question) => {
    const { answer, problems = [], presets } = answerByOptions(question, options);
    if (answer !== undefined) return answer;
    const asked = await ask({ ...question, problems: [...question.problems, ...problems] }, { presets });
    if (asked !== undefined) return asked;
    note(declinedNote(question, problems));
    return { action: "decline" };
  };
}

function answerByOptions(
  question: ShownQuestion,
  { given, isApproved }: AnswerOptions,
): {
  readonly answer?: Answer;
  readonly problems?: readonly string[];
  readonly presets?: AskingOptions["presets"];
} {
  if (question.mode === "approval") return isApproved ? { answer: { action: "accept" } } : {};
  // Answers that were refused once would be refused again.
  if (question.mode !== "form" || given.isEmpty || question.problems.length > 0) return {};
  const filled = given.fill(question.fields);
  return filled.problems === undefined ? { answer: { action: "accept", content: filled.content } } : filled;
}

/** Tells what was asked, why it was declined, and how to answer it the next time. */
function declinedNote(question: ShownQuestion, problems: readonly string[]): DeclinedNote {
  const { asker: { computer, server: mcp_server, tool }, message, mode } = question;
  const why = problems.length === 0 ? "nobody can be asked here" : toSafeLine(problems.join("; "));
  const asked = shorten(toSafeLine(message), MAX_MESSAGE_LENGTH);
  const shared = { mode, ...(computer === undefined ? {} : { computer }), mcp_server, tool, message };
  const { what, remedy, members } = describeQuestion(question);
  return {
    text: `${describeAsker(question.asker, what)}: ${
      asked === "" ? "" : `"${asked}". `
    }Declined: ${why}. ${remedy}`,
    value: { question: { ...shared, ...members }, answer: "decline", problems },
  };
}

/** What is particular to a question. */
interface QuestionWords {
  readonly what?: string;
  readonly remedy: string;
  readonly members: Readonly<Record<string, unknown>>;
}

function describeQuestion(question: ShownQuestion): QuestionWords {
  switch (question.mode) {
    case "form":
      return { remedy: howToAnswer(question), members: { schema: question.schema } };
    case "url": {
      const url = new URL(question.url).href;
      return {
        what: "asks you to open a page",
        remedy: `Run the command at a terminal to answer. Page: ${url}`,
        members: { url },
      };
    }
    case "approval":
      return {
        what: "has a tool that needs an approval,",
        remedy: "Approve with --approve",
        members: { params: question.params },
      };
  }
}

function howToAnswer({ fields }: ShownForm): string {
  if (fields.length === 0) return "Accept with --answers '{}'";
  return `Answer with --answer NAME=VALUE: ${fields.map(describeField).join(", ")}`;
}

function describeField({ name, isRequired }: QuestionField): string {
  return `${shorten(toSafeLine(name), MAX_MESSAGE_LENGTH)}${isRequired ? " (required)" : ""}`;
}
