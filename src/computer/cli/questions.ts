/** What a Computer asks the person at its terminal: values of inputs, and whether a tool may run. */
import { toSafeLine } from "../../cli/terminal/safe_text.ts";
import type { LineEditor } from "../../cli/terminal/line_editor.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import { shorten } from "../../protocol/shorten.ts";
import type { InputSource } from "../inputs.ts";
import type { Confirm, ConfirmRequest } from "../confirmation.ts";

/** How much of a call's arguments is shown, in characters. */
const MAX_SHOWN_ARGUMENTS = 500;

/** Asks for the value of an input; an empty answer is none. */
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
    return await editor.choose({ text, options: input.options, default: input.default ?? undefined, signal });
  }
  const isHidden = input.type === "promptString" && input.password === true;
  return await editor.ask({ text, isHidden, signal }) || undefined;
}

/** Inputs as the person answers them. */
export function askedInputs(editor: () => Promise<LineEditor>): InputSource {
  return async (_id, { input, server, signal }) =>
    await askForInput(await editor(), input, { server, signal });
}

/** Asks before each call, unless its tool was allowed for as long as this Computer runs. */
export function askedConfirm(editor: LineEditor): Confirm {
  const allowed = new Set<string>();
  return async (request) => {
    const key = JSON.stringify([request.server, request.tool]);
    if (allowed.has(key)) return true;
    const text = `${describeCall(request)}\nRun it? [y]es, [a]lways, [N]o: `;
    const answer = (await editor.ask({ text, signal: request.signal }))?.trim().toLowerCase() ?? "";
    if (answer === "a" || answer === "always") allowed.add(key);
    return ["y", "yes", "a", "always"].includes(answer);
  };
}

function describeCall({ agent, server, tool, params }: ConfirmRequest): string {
  const shown = shorten(toSafeLine(JSON.stringify(params)), MAX_SHOWN_ARGUMENTS);
  return `Agent "${toSafeLine(agent)}" calls "${toSafeLine(tool)}" of "${toSafeLine(server)}" with ${shown}`;
}
