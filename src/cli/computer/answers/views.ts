/** `desktop`, `finder`, `read` */
import { catalogueText, drawFinder } from "../../answers/finder.ts";
import { DEFAULT_WINDOW_LINES, desktopText, drawDesktop } from "../../answers/desktop.ts";
import { readableResourceText, resourceText } from "../../answers/contents.ts";
import type { DesktopFlags, FinderFlags } from "../../request_options.ts";
import { printable } from "../../../terminal/safe_text.ts";
import { hasWindowScheme } from "../../../uri/scheme.ts";
import type { Answer } from "../../answers/answer.ts";
import type { CommandContext } from "../command_context.ts";

/** The windows of all MCP servers. */
export async function showDesktop(
  { session, signal, progress }: CommandContext,
  { size, window, lines = window === undefined ? DEFAULT_WINDOW_LINES : 0 }: DesktopFlags,
): Promise<Answer> {
  progress("reading windows");
  const desktops = await session.computer.getDesktop({ size, window, signal });
  return {
    value: { desktops },
    text: desktopText(desktops),
    draw: (screen) => drawDesktop(desktops, { ...screen, maxLines: lines === 0 ? Infinity : lines }),
  };
}

/** The documents of all MCP servers. */
export async function showFinder(
  { session, signal, progress }: CommandContext,
  { keyword: keywords, fileType, offset = 0, limit }: FinderFlags,
): Promise<Answer> {
  progress("reading documents");
  const query = { keywords, fileType, offset, limit };
  const { documents, totalCount } = await session.computer.getFinder({ ...query, signal });
  const branches = documents.map((document) => ({ document }));
  return {
    value: { documents, total_count: totalCount },
    text: catalogueText({ documents: branches, totalCount }, { offset }),
    draw: (screen) => drawFinder(branches, { ...screen, offset, totalCount }),
  };
}

/** One resource. */
export async function readResource(
  { session, signal, progress }: CommandContext,
  { uri, mcpServer }: { readonly uri: string; readonly mcpServer?: string },
): Promise<Answer> {
  progress(`reading ${uri}`);
  const result = await session.computer.readResource(uri, { mcpServer, signal });
  const text = resourceText(result.contents);
  return {
    value: result,
    text,
    isVerbatim: true,
    draw: (screen) =>
      hasWindowScheme(uri)
        ? drawDesktop([`${uri}\n\n${text}`], { ...screen, maxLines: Infinity })
        : printable(readableResourceText(result.contents)),
  };
}
