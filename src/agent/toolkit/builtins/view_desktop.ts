/** `view_desktop`: the windows that Computers show. */
import type { DesktopEntry } from "../../../protocol/desktop.ts";
import type { LocalTool } from "../local_tool.ts";
import type { McpContent } from "../mcp.ts";
import {
  askEach,
  chosenComputers,
  COMPUTER_PROPERTY,
  makeBuiltin,
  partOf,
  problemLines,
  type Reach,
} from "./builtin.ts";

/** The most characters of all windows together. */
const MAX_CHARACTERS = 40_000;

/** Makes the tool. */
export function viewDesktop(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "view_desktop",
    title: "View the Desktop",
    description:
      "Shows the live windows of Computers: what their programs have open now. Windows that matter most come first. " +
      "A window is a text; give `window` to see one alone.",
    properties: {
      computer: COMPUTER_PROPERTY,
      window: { type: "string", description: "The window:// URI of one window." },
      size: { type: "integer", minimum: 1, maximum: 100, description: "The most windows of each Computer." },
      offset: {
        type: "integer",
        minimum: 0,
        description: "With `window`: how many characters of its text to skip, to go on with a long one.",
      },
    },
    async run(args, { signal }) {
      const [named, window] = [args.text("computer"), args.text("window")];
      const size = args.integer("size", { min: 1, max: 100 });
      const offset = args.integer("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
      const computers = chosenComputers(reach, named);
      const answers = await askEach(computers, (computer) => computer.getWindows({ size, window, signal }));
      const windows = answers.flatMap((answer) =>
        "value" in answer ? answer.value.map((each) => ({ ...each, computer: answer.computer })) : []
      );
      const problems = problemLines(answers);
      const content = [...toContent(windows, offset), ...problems.map((text) => ({ type: "text", text }))];
      if (content.length > 0) return { content, ...(windows.length === 0 ? { isError: true } : {}) };
      const none = window === undefined ? "No window is open." : `No window "${window}" is open.`;
      return { content: [{ type: "text", text: none }] };
    },
  });
}

type ShownWindow = DesktopEntry & { readonly computer: string };

/** A block for each window, and one that says what was left out. */
function toContent(windows: readonly ShownWindow[], offset: number): McpContent[] {
  let left = MAX_CHARACTERS;
  const blocks: McpContent[] = [];
  const hidden: ShownWindow[] = [];
  for (const window of windows) {
    if (left <= 0) {
      hidden.push(window);
      continue;
    }
    const { part, end } = partOf(window.text, { offset, max: left });
    left -= part.length;
    const more = end < window.text.length
      ? `\n\n[${
        window.text.length - end
      } more characters: call view_desktop with window "${window.uri}", computer ` +
        `"${window.computer}" and offset ${end}]`
      : "";
    blocks.push({ type: "text", text: `${titleOf(window)}\n\n${part}${more}` });
  }
  if (hidden.length > 0) {
    const list = hidden.map((window) => `${titleOf(window)}`).join("\n");
    blocks.push({ type: "text", text: `Windows that are not shown; ask for one with \`window\`:\n${list}` });
  }
  return blocks;
}

function titleOf({ title, uri, computer }: ShownWindow): string {
  return `# ${title === undefined ? uri : `${title} (${uri})`} on Computer "${computer}"`;
}
