/** Questions to the user at the terminal: values of inputs, and whether a tool may run. */
import { toSafeLine } from "../../text/safe_text.ts";
import { ask, choose, type LineEditor } from "../../terminal/editor/line_editor.ts";
import type { MCPServerInput, MCPServerPickStringInput } from "../../protocol/config.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { Confirm, ConfirmRequest } from "../../computer/tools/confirmation.ts";
import { describeChanges, toolChanges } from "../../computer/tools/tool_changes.ts";
import type { UseEditor } from "../../terminal/editor/lazy_editor.ts";
import { askToRun } from "../questions/terminal_answers.ts";
import { describeCaller, toShownName } from "../questions/shown_question.ts";

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

/** What was allowed with `always`. */
interface Allowed {
  readonly fingerprints: Set<string>;
  readonly last: Pick<ConfirmRequest, "definition">;
}

/**
 * Asks before each call, unless the user has allowed the tool, as it is listed and configured now, to the Agent and its
 * client until this Computer ends; a call that demands a person is always asked about. The whole call is shown, and what
 * has changed since the tool was allowed; a call that is longer than a page runs only after its last page was shown.
 */
export function askedConfirm(editor: LineEditor): Confirm {
  const allowed = new Map<string, Allowed>();
  return async (request) => {
    const { isLocal, agent, client, server, tool, fingerprint, mustAsk } = request;
    const key = JSON.stringify([isLocal, agent, client, server, tool]);
    const before = allowed.get(key);
    if (!mustAsk && before?.fingerprints.has(fingerprint) === true) return true;
    const { params, signal } = request;
    const { decision } = await askToRun(editor, {
      call: `${changeNotice(request, before)}${describeCall(request)}`,
      callAgain: `${toShownName(request.tool)} of ${toShownName(request.server)}`,
      params,
      signal,
      hasAlways: !mustAsk,
    });
    if (decision !== "always") return decision !== "no";
    const fingerprints = before?.fingerprints ?? new Set();
    allowed.set(key, { fingerprints: fingerprints.add(fingerprint), last: request });
    return "always";
  };
}

/** What has changed since the tool was allowed, in lines above the call; empty for a tool that was not. */
function changeNotice(request: ConfirmRequest, before: Allowed | undefined): string {
  const { server, tool, definition } = request;
  const changes = before === undefined ? request.changes : toolChanges(before.last.definition, definition);
  if (changes.length === 0 && before === undefined) return "";
  const what = changes.length === 0 ? "the entry of its MCP server" : describeChanges(changes);
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
function describeCall({ isLocal, agent, claimedAgent, tool, server }: ConfirmRequest): string {
  const who = isLocal ? "this program" : describeCaller({ agent, claimedAgent });
  return `${who[0]?.toUpperCase()}${who.slice(1)} calls ${toShownName(tool)} of ${toShownName(server)}`;
}
