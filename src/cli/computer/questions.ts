/** Questions to the user at the terminal: values of inputs, and whether a tool may run. */
import { toSafeLine } from "../../text/safe_text.ts";
import { ask, choose, type LineEditor } from "../../terminal/editor/line_editor.ts";
import type { MCPServerInput, MCPServerPickStringInput } from "../../protocol/config.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { ConfirmRequest } from "../../computer/tools/confirmation.ts";
import type { UseEditor } from "../../terminal/editor/lazy_editor.ts";
import { askAt, askToRun } from "../questions/terminal_answers.ts";
import { describeCaller, fromRequest, toShownName } from "../questions/shown_question.ts";
import { AT_TERMINAL, type Face } from "./people/people.ts";
import type { WaitingCall } from "./people/waiting.ts";

/** Asks for the value of an input; returns `undefined` for an empty answer. */
export async function askForInput(
  editor: LineEditor,
  input: MCPServerInput,
  context: { readonly server?: string; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const { server, signal } = context;
  const what = toSafeLine(input.description) || "value";
  const whose = server === undefined ? "" : ` for MCP server "${toSafeLine(server)}"`;
  const text = `${what} (input "${toSafeLine(input.id)}"${whose}): `;
  if (input.type === "pickString") {
    return await chooseOption(editor, input, { text, signal });
  }
  const isHidden = input.type === "promptString" && input.password === true;
  return await ask(editor, { text, isHidden, signal }) || undefined;
}

/** Shows the labels of the options, if each is another one, and returns the option itself. */
async function chooseOption(
  editor: LineEditor,
  { options, option_labels = options, default: preset }: MCPServerPickStringInput,
  { text, signal }: { readonly text: string; readonly signal: AbortSignal | undefined },
): Promise<string | undefined> {
  const shown = new Set(option_labels).size === options.length ? option_labels : options;
  const shownPreset = typeof preset === "string" ? shown[options.indexOf(preset)] : undefined;
  const chosen = await choose(editor, { text, options: shown, default: shownPreset, signal });
  return chosen === undefined ? undefined : options[shown.indexOf(chosen)];
}

export function askedInputs(useEditor: UseEditor): InputSource {
  return (_id, { input, server, signal }) =>
    useEditor((editor) => askForInput(editor, input, { server, signal }));
}

/**
 * The terminal of this process. The whole call is shown, and what has changed since the tool was allowed; a call that is
 * longer than a page runs only after its last page was shown.
 */
export function terminalFace(editor: LineEditor): Face {
  return {
    place: AT_TERMINAL,
    decide: async ({ request, changed }, signal) => {
      const { params, tool, server, mustAsk } = request;
      const { decision } = await askToRun(editor, {
        call: `${changeNotice(request, changed)}${describeCall(request)}`,
        callAgain: `${toShownName(tool)} of ${toShownName(server)}`,
        params,
        signal,
        hasAlways: !mustAsk,
      });
      return decision;
    },
    answer: ({ request }, signal) => askAt(editor, fromRequest({ ...request, signal })),
  };
}

/** What has changed since the tool was allowed, in lines above the call; empty for a tool that was not. */
export function changeNotice({ server, tool }: ConfirmRequest, changed: WaitingCall["changed"]): string {
  if (changed === undefined) return "";
  const { what, changes } = changed;
  const lines = changes.flatMap(({ removed, added }) => [
    ...removed.map((line) => `- ${toSafeLine(line)}`),
    ...added.map((line) => `+ ${toSafeLine(line)}`),
  ]);
  const head = `Careful: ${toShownName(tool)} of ${
    toShownName(server)
  } has changed since you allowed it: ${what}.`;
  return [head, ...lines, ""].join("\n");
}

/** `Agent "bot" calls "delete" of "files"`. */
export function describeCall({ isLocal, agent, claimedAgent, tool, server }: ConfirmRequest): string {
  const who = isLocal ? "this program" : describeCaller({ agent, claimedAgent });
  return `${who[0]?.toUpperCase()}${who.slice(1)} calls ${toShownName(tool)} of ${toShownName(server)}`;
}
