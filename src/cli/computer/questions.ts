/** Questions to the user at the terminal: values of inputs, and whether a tool may run. */
import { countOf } from "../../text.ts";
import { escapeUnseen, inWrittenOrder, toSafeLine, toSeenJson } from "../../terminal/safe_text.ts";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { Confirm, ConfirmRequest } from "../../computer/tools/confirmation.ts";

/** The characters of a call's arguments that are shown first, and with each `more`. */
const FIRST_PAGE_LENGTH = 1_000;
const NEXT_PAGE_LENGTH = 4_000;
/** The characters of a name that are shown. */
const MAX_NAME_LENGTH = 128;
/** The meaning of an answer; any other answer means no. */
const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["a", "always"],
  ["always", "always"],
]);

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
    return await editor.choose({ text, options: input.options, default: input.default ?? undefined, signal });
  }
  const isHidden = input.type === "promptString" && input.password === true;
  return await editor.ask({ text, isHidden, signal }) || undefined;
}

/** An input source that asks the user. */
export function askedInputs(editor: () => Promise<LineEditor>): InputSource {
  return async (_id, { input, server, signal }) =>
    await askForInput(await editor(), input, { server, signal });
}

/**
 * Asks before each call, unless the user has allowed the tool to the Agent until this Computer ends. The whole call is
 * shown, with nothing replaced or left out; a call that is longer than a page runs only after its last page was shown.
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
      : `${countOf(left, "more character")} left to show before it can run. [m]ore, [N]o: `;
    const answer = (await editor.ask({ text: `${shown}\n${options}`, signal }))?.trim().toLowerCase() ?? "";
    if (left === 0) return DECISIONS.get(answer) ?? "no";
    if (!["m", "more", ...DECISIONS.keys()].includes(answer)) return "no";
    // A yes before the last page shows the next page and asks again.
    [start, end] = [end, end + NEXT_PAGE_LENGTH];
    head = `${describeTool(request)}, continued: `;
  }
}

/** The Agent's name as the Server knows it, then the name in the request if it differs. */
function describeCaller({ isLocal, agent, claimedAgent }: ConfirmRequest): string {
  if (isLocal) return "This program";
  const who = agent === undefined ? "An Agent that the Server did not name" : `Agent ${toSeenName(agent)}`;
  return claimedAgent === "" || claimedAgent === agent
    ? who
    : `${who} (calls itself ${toSeenName(claimedAgent)})`;
}

function describeTool({ tool, server }: ConfirmRequest): string {
  return `${toSeenName(tool)} of ${toSeenName(server)}`;
}

/** A name in quotes with invisible characters escaped; a long name is cut and followed by the number of hidden characters. */
function toSeenName(name: string): string {
  const rest = name.length - MAX_NAME_LENGTH;
  const shown = inWrittenOrder(toSeenJson(rest <= 0 ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`));
  return rest <= 0 ? shown : `${shown} (${countOf(rest, "more character")})`;
}
