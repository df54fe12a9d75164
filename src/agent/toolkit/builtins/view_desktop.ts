/** `view_desktop`: the windows that Computers show. */
import type { DesktopEntry } from "../../../protocol/desktop.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { hasWindowScheme } from "../../../uri/window_uri.ts";
import {
  escapeUnreadable,
  toFence,
  toSeenLine,
  toSeenName,
  toSeenUri,
  toSeenWord,
} from "../../../text/safe_text.ts";
import type { RemoteComputer } from "../../remote_computer.ts";
import type { LocalTool } from "../tool_context.ts";
import type { McpContent } from "../../../local_tools/mcp.ts";
import { ArgumentError } from "../../../local_tools/arguments.ts";
import {
  askEach,
  chosenComputers,
  type ClientUri,
  COMPUTER_PROPERTY,
  makeBuiltin,
  problemLines,
  type Reach,
  readClientUri,
} from "./builtin.ts";
import { MAX_ROOM, partOf } from "../../../local_tools/answer_parts.ts";
import { MAX_PICTURES, toPicture } from "../../../local_tools/pictures.ts";

/** The errors of Computers that do not have a window, or cannot read a single one. */
const NO_PICTURES = [ErrorCode.NOT_FOUND, ErrorCode.BAD_REQUEST];

export function viewDesktop(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "view_desktop",
    title: "View the Desktop",
    description:
      "Shows the live windows of Computers: what their programs have open now. Windows that matter most come first. " +
      "Give `window` to see one alone, with its pictures.",
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
    async run(args, { signal, clientName: client }) {
      const { uri: window, computer: named = args.text("computer") } = readWindowUri(args.text("window"));
      const size = args.integer("size", { min: 1, max: 100 });
      const offset = args.integer("offset", { min: 0 }) ?? 0;
      if (offset > 0 && window === undefined) {
        throw new ArgumentError(
          'Cannot call "view_desktop": the argument "offset" goes on with one window, so name it with "window"',
        );
      }
      const answers = await askEach(
        chosenComputers({ ...reach, client }, named),
        (computer) =>
          window === undefined ? seeAll(computer, { size, signal }) : seeOne(computer, window, signal),
      );
      const windows = answers.flatMap((answer) => "value" in answer ? answer.value : []);
      const problems = problemLines(answers, "shown");
      const isFailed = problems.length === answers.length;
      const none = window === undefined ? "No window is open." : `No window ${toSeenLine(window)} is open.`;
      const texts = windows.length > 0 || isFailed ? problems : [...problems, none];
      const notes = texts.map((text) => ({ type: "text" as const, text }));
      const content = [...notes, ...toContent(windows, offset)];
      return { content, ...(isFailed ? { isError: true } : {}) };
    },
  });
}

/** The window that is asked for; none when all are. */
function readWindowUri(named: string | undefined): Partial<ClientUri> {
  if (named === undefined) return {};
  const read = readClientUri(named);
  if (hasWindowScheme(read.uri)) return read;
  throw new ArgumentError(
    `Cannot view ${
      toSeenLine(named)
    }: not the URI of a window. A window has a URI such as window://HOST/PATH, ` +
      "as view_desktop without `window` lists it",
  );
}

type ShownWindow = DesktopEntry & { readonly computer: string; readonly pictures?: readonly McpContent[] };

async function seeAll(
  computer: RemoteComputer,
  options: { readonly size: number | undefined; readonly signal: AbortSignal },
): Promise<ShownWindow[]> {
  const windows = await computer.getWindows(options);
  return windows.map((window) => ({ ...window, computer: computer.name }));
}

/** One window with its pictures, which only its resource has. A window that is a picture alone is on no Desktop. */
async function seeOne(computer: RemoteComputer, uri: string, signal: AbortSignal): Promise<ShownWindow[]> {
  const [[window], pictures] = await Promise.all([
    computer.getWindows({ window: uri, signal }),
    readPictures(computer, uri, signal),
  ]);
  if (window === undefined && pictures.length === 0) return [];
  return [{ ...(window ?? { uri, text: "" }), computer: computer.name, pictures }];
}

async function readPictures(
  computer: RemoteComputer,
  uri: string,
  signal: AbortSignal,
): Promise<McpContent[]> {
  try {
    const { contents } = await computer.readResource(uri, { signal, expectedCodes: NO_PICTURES });
    return contents.flatMap(({ blob, mimeType = "" }) =>
      blob === undefined || !mimeType.startsWith("image/") ? [] : [toPicture(blob, mimeType)]
    ).slice(0, MAX_PICTURES);
  } catch {
    // A Computer that cannot read single windows has texts alone; whether it has the window, the Desktop says.
    signal.throwIfAborted();
    return [];
  }
}

function toContent(windows: readonly ShownWindow[], offset: number): McpContent[] {
  let left = MAX_ROOM;
  const blocks: McpContent[] = [];
  const hidden: ShownWindow[] = [];
  for (const window of windows) {
    if (left <= 0) {
      hidden.push(window);
      continue;
    }
    const shown = escapeUnreadable(window.text);
    const { part, end, room } = partOf(shown, { offset, max: left });
    left -= room;
    const more = end < shown.length
      ? `\n\n[${shown.length - end} more characters: call view_desktop with window "${
        toSeenUri(window.uri)
      }", ` +
        `computer ${toSeenName(window.computer)} and offset ${end}]`
      : "";
    const text = part === ""
      ? `# ${describeWindow(window)}`
      : `# ${describeWindow(window)}\n\n${toFence(part)}${more}`;
    blocks.push({ type: "text", text }, ...window.pictures ?? []);
  }
  if (hidden.length > 0) {
    const list = hidden.map((window) => `# ${describeWindow(window)}`).join("\n");
    blocks.push({ type: "text", text: `Windows that are not shown; ask for one with \`window\`:\n${list}` });
  }
  return blocks;
}

/** What a window is, whose it is, and where: `"Notes" (window://HOST/PATH) on Computer "laptop"`. */
export function describeWindow({ title, uri, computer }: Omit<ShownWindow, "text">): string {
  const shown = title === undefined ? toSeenUri(uri) : `${toSeenWord(title)} (${toSeenUri(uri)})`;
  return `${shown} on Computer ${toSeenName(computer)}`;
}
