import { type Requirement, section } from "./requirement.ts";

/** The requirements of `docs/protocol/questions.md`. */
export const questions: readonly Requirement[] = [
  ...section("docs/protocol/questions.md#who-is-asked", {
    "question-who":
      "The configuration decides who answers: by default the person at the Computer, else the Agent's user.",
    "question-local":
      "A call of the Computer's own program is answered where it was made, and never by the Agent.",
    "question-declined": "A question that nobody can answer is declined, with a sentence in the result.",
  }),
  ...section("docs/protocol/questions.md#opening-the-channel", {
    "question-opt-in":
      "A Computer sends no question to an Agent that has not opened the channel for its mode.",
    "question-unknown":
      "400, an empty ack or no answer to `client:open_input` means that there is no channel; calls go on as without.",
    "question-session":
      "The channel is closed when the Agent or the Computer leaves or loses its connection.",
  }),
  ...section("docs/protocol/questions.md#input-required", {
    "question-result":
      "An open question answers the waiting request with `isError`, a sentence, and `a2c_input_required` in `meta`.",
    "question-no-answerer": "An Agent that has nobody to ask, or does not know the mode, answers `cancel`.",
  }),
  ...section("docs/protocol/questions.md#answering", {
    "question-answer":
      "`client:answer_input` is acked with the result of the call, or with its next question.",
    "question-not-open": "An answer to a question that is not open is 404 with the state and the reason.",
    "question-other-agent": "An answer by another Agent than the one whose call asked is 403.",
    "question-repeated":
      "A repeated call gets the open question, and the result after the end; the tool runs once.",
  }),
  ...section("docs/protocol/questions.md#forms", {
    "question-form-schema": "A form is the restricted JSON Schema of MCP.",
    "question-answer-checked":
      "The Computer checks each answer against the form; wrong content is 400, and the question stays open.",
    "question-default": "A field without a value takes its default.",
    "question-secret": "A form with a field that looks like a secret is declined.",
  }),
  ...section("docs/protocol/questions.md#urls", {
    "question-url": "A URL is of the web, is shown in full, and nobody fetches it.",
  }),
  ...section("docs/protocol/questions.md#approvals", {
    "question-approval":
      'With `"approval": "agent"` the Agent\'s user confirms the call of that Agent; never by default.',
    "question-unasked":
      "A `cancel` with `asked: false` to an approval lets the person at the Computer be asked, as without the setting.",
  }),
  ...section("docs/protocol/questions.md#time", {
    "question-clock": "While a question is open at the Agent, the time of the call stands still.",
    "question-wait":
      "An Agent that can wait is told to while the person at the Computer is asked; the call's time stands still.",
    "question-expiry": "A question that nobody answers in time is told to the MCP server as `cancel`.",
    "question-confirm-late": "A call that nobody confirms in time is 4005, and has not run.",
    "question-open-at-end": "A call that ends while a question is open says so.",
  }),
  ...section("docs/protocol/questions.md#end-of-a-question", {
    "question-leave": "A question ends with its call, when the Agent leaves or loses its connection.",
    "question-computer-returns": "Open questions stay while the Computer reconnects and its Agent stays.",
    "question-in-turn": "Several questions of one call are answered one after the other.",
    "question-bounds": "Questions beyond a bound are declined.",
  }),
];
