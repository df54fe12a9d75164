/** What a Computer asks the person at its terminal: values of inputs, and whether a tool may run. */
import { countOf } from "../../text.ts";
import { escapeUnseen, inWrittenOrder, toSafeLine, toSeenJson } from "../../terminal/safe_text.ts";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { Confirm, ConfirmRequest } from "../../computer/tools/confirmation.ts";

/** How much of a call's arguments is shown at once, and each time that more of it is asked for, in characters. */
const FIRST_PAGE_LENGTH = 1_000;
const NEXT_PAGE_LENGTH = 4_000;
/** How much of a name is shown, in characters. */
const MAX_NAME_LENGTH = 128;
/** What an answer means; any other is a no. */
const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["a", "always"],
  ["always", "always"],
]);

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

/**
 * Asks before each call, unless its tool was allowed to its Agent for as long as this Computer runs. All of the call is
 * shown, nothing is replaced or left out, and a call that is longer than a page runs only after its last page was
 * shown.
 */
export function askedConfirm(editor: LineEditor): Confirm {
  const allowed = new Set<string>();
  return async (request) => {
    const key = JSON.stringify([request.isLocal, request.agent, request.server, request.tool]);
    if (allowed.has(key)) return true;
    const answer = await askForDecision(editor, request);
    if (answer === "always") allowed.add(key);
    return answer !== "no";
  };
}

type Decision = "yes" | "always" | "no";

async function askForDecision(editor: LineEditor, request: ConfirmRequest): Promise<Decision> {
  const { signal } = request;
  const call = JSON.stringify(request.params);
  let [start, end] = [0, FIRST_PAGE_LENGTH];
  let head = `${describeCaller(request)} calls ${describeTool(request)} with `;
  while (true) {
    const left = Math.max(0, call.length - end);
    const shown = `${head}${inWrittenOrder(escapeUnseen(call.slice(start, end)))}${left === 0 ? "" : "…"}`;
    const options = left === 0
      ? "Run it? [y]es, [a]lways, [N]o: "
      : `${countOf(left, "more character")} to see before it can run. [m]ore, [N]o: `;
    const answer = (await editor.ask({ text: `${shown}\n${options}`, signal }))?.trim().toLowerCase() ?? "";
    if (left === 0) return DECISIONS.get(answer) ?? "no";
    if (!["m", "more", ...DECISIONS.keys()].includes(answer)) return "no";
    // Whoever says yes too early sees more of it and is asked again
    [start, end] = [end, end + NEXT_PAGE_LENGTH];
    head = `${describeTool(request)}, continued: `;
  }
}

/** By the name that the Server vouches for; what the Agent calls itself stands behind it where that differs. */
function describeCaller({ isLocal, agent, claimedAgent }: ConfirmRequest): string {
  if (isLocal) return "This Computer's own program";
  const who = agent === undefined ? "An Agent that the Server does not name" : `Agent ${toSeenName(agent)}`;
  return claimedAgent === "" || claimedAgent === agent
    ? who
    : `${who} (calls itself ${toSeenName(claimedAgent)})`;
}

function describeTool({ tool, server }: ConfirmRequest): string {
  return `${toSeenName(tool)} of ${toSeenName(server)}`;
}

/** A name in quotes, with whatever cannot be seen written out; of a long one the beginning, and how much is not shown. */
function toSeenName(name: string): string {
  const rest = name.length - MAX_NAME_LENGTH;
  const shown = inWrittenOrder(toSeenJson(rest <= 0 ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`));
  return rest <= 0 ? shown : `${shown} (${countOf(rest, "more character")})`;
}
