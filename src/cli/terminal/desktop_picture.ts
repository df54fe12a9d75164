/** The Desktop as boxes. Pure: values in, a picture out. */
import { BOX_EDGES, drawBox } from "./box.ts";
import { displayWidth, linesOf, wrapToWidth } from "./display_width.ts";
import { toSafeLine, withoutSequences } from "./safe_text.ts";
import type { Screen } from "./screen.ts";
import type { Desktop } from "../../protocol/desktop.ts";
import { countOf } from "../count.ts";

/** The lines of each window that a picture shows unless told otherwise. */
export const DEFAULT_WINDOW_LINES = 20;
/** Boxes are not drawn narrower, unless the terminal is. */
const MIN_BOX_WIDTH = 40;

/** A window's URI and the lines of its text. */
interface Window {
  readonly title: string;
  readonly lines: readonly string[];
  /** Lines of the text that are not shown. */
  readonly hidden: number;
}

/** Draws a box for each window: its URI in the edge, its text wrapped, at most `maxLines` lines of it. */
export function drawDesktop(
  desktops: readonly Desktop[],
  screen: Screen & { readonly maxLines: number },
): string {
  const { columns, palette, maxLines } = screen;
  if (desktops.length === 0) return palette.faint("no windows");
  const windows = desktops.map((desktop) => readWindow(desktop, { width: columns - BOX_EDGES, maxLines }));
  const needed = windows.flatMap(({ title, lines }) => [displayWidth(title) + 2, ...lines.map(displayWidth)]);
  const widest = needed.reduce((most, each) => Math.max(most, each), MIN_BOX_WIDTH - BOX_EDGES);
  const width = Math.min(columns, widest + BOX_EDGES);
  return windows.map(({ title, lines, hidden }) => {
    const more = hidden === 0 ? "" : countOf(hidden, "more line");
    const footer = lines.length === 0 ? "no text" : more;
    return drawBox({ title, lines, footer }, { width, palette });
  }).join("\n");
}

function readWindow(
  desktop: Desktop,
  { width, maxLines }: { readonly width: number; readonly maxLines: number },
): Window {
  const cut = desktop.indexOf("\n\n");
  const title = toSafeLine(cut < 0 ? desktop : desktop.slice(0, cut));
  const text = cut < 0 ? "" : withoutSequences(desktop.slice(cut + 2)).replace(/^\n+|\s+$/g, "");
  const lines: string[] = [];
  let hidden = 0;
  for (const line of text === "" ? [] : linesOf(text)) {
    // Only what is shown is measured: the text may be megabytes long
    if (lines.length >= maxLines) hidden++;
    else lines.push(...wrapToWidth(line, width));
  }
  return { title, lines: lines.slice(0, maxLines), hidden: hidden + Math.max(0, lines.length - maxLines) };
}
