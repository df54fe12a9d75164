/** The Desktop as text and, on a terminal, as boxes. Pure: values in, text out. */
import { BOX_EDGES, drawBox } from "../../terminal/shapes.ts";
import { displayWidth, linesOf, wrapToWidth } from "../../terminal/display_width.ts";
import {
  escapeUnseen,
  printable,
  toFence,
  toSafeLine,
  toSeenUri,
  withoutSequences,
} from "../../text/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { Desktop } from "../../protocol/desktop.ts";
import { countOf } from "../../text/text.ts";

export const DEFAULT_WINDOW_LINES = 20;
const MIN_BOX_WIDTH = 40;
/** The characters of a URI that are shown in the edge of a box. */
const MAX_TITLE_LENGTH = 4_096;
/** The most characters that one column can need: letters with many marks, escape sequences. */
const MAX_UNITS_PER_COLUMN = 64;
/** Percent-encoded characters beyond ASCII; decoding `%2F` or `%20` would change the URI. */
const ENCODED_LETTERS = /(?:%[89a-f][\da-f])+/gi;
const BLANK: ReadonlySet<string | undefined> = new Set([" ", "\t", "\r", "\n"]);

interface Window {
  readonly title: string;
  readonly lines: readonly string[];
  readonly hidden: number;
}

/** Draws a box for each window: the URI in the edge, and at most `maxLines` lines of wrapped text. */
export function drawDesktop(
  desktops: readonly Desktop[],
  screen: Screen & { readonly maxLines: number },
): string {
  const { columns, palette, maxLines } = screen;
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
  const uri = (cut < 0 ? desktop : desktop.slice(0, cut)).slice(0, MAX_TITLE_LENGTH);
  const title = toSafeLine(uri.replace(ENCODED_LETTERS, decodeLetters));
  if (cut < 0) return { title, lines: [], hidden: 0 };
  let start = cut + 2;
  while (desktop[start] === "\n") start++;
  // Clean and measure only what can be shown: the text may be megabytes long.
  const end = Math.min(desktop.length, start + maxLines * (width + 1) * MAX_UNITS_PER_COLUMN);
  const text = withoutSequences(desktop.slice(start, end)).trimEnd();
  const drawn: string[] = [];
  let hidden = 0;
  for (const line of text === "" ? [] : linesOf(text)) {
    if (drawn.length >= maxLines) hidden++;
    else drawn.push(...wrapToWidth(line, width, { maxLines: maxLines - drawn.length }));
  }
  const lines = drawn.slice(0, maxLines);
  return { title, lines, hidden: hidden + drawn.length - lines.length + countLines(desktop, end) };
}

/** Decodes visible letters; invisible characters and invalid UTF-8 stay encoded. */
function decodeLetters(encoded: string): string {
  try {
    const letters = decodeURIComponent(encoded);
    return escapeUnseen(letters) === letters ? letters : encoded;
  } catch {
    return encoded;
  }
}

function countLines(text: string, start: number): number {
  let end = text.length;
  while (end > start && BLANK.has(text[end - 1])) end--;
  if (end <= start) return 0;
  let count = 1;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The windows, separated by rules: the URI of each, and its text in a fence that it cannot end. */
export function desktopText(desktops: readonly Desktop[]): string {
  const windows = desktops.map((desktop) => {
    const [uri = "", ...text] = desktop.split("\n\n");
    return [toSeenUri(uri), toFence(printable(text.join("\n\n")))].filter((part) => part !== "").join("\n\n");
  });
  return windows.join(`\n\n${"─".repeat(40)}\n\n`);
}
