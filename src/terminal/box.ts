/** A box with a title in its upper edge. */
import { cropToWidth, displayWidth, padToWidth } from "./display_width.ts";
import type { Palette } from "./palette.ts";

/** What a box takes beside its lines: an edge and a space on each side. */
export const BOX_EDGES = 4;

/** What a box shows; all of it is safe to print. */
export interface Box {
  /** In the upper edge. */
  readonly title: string;
  /** None wider than the box has room for. */
  readonly lines: readonly string[];
  /** In the lower edge. */
  readonly footer?: string | undefined;
}

/** Draws a box that is `width` columns wide. */
export function drawBox(
  { title, lines, footer = "" }: Box,
  { width, palette }: { readonly width: number; readonly palette: Palette },
): string {
  const inner = width - BOX_EDGES;
  const edge = palette.faint("│");
  return [
    drawEdge(title, { width, corners: "╭╮", paint: palette.strong, palette }),
    ...lines.map((line) => `${edge} ${padToWidth(cropToWidth(line, inner), inner)} ${edge}`),
    drawEdge(footer, { width, corners: "╰╯", paint: palette.faint, palette }),
  ].join("\n");
}

function drawEdge(
  text: string,
  options: {
    readonly width: number;
    readonly corners: string;
    readonly paint: (text: string) => string;
    readonly palette: Palette;
  },
): string {
  const { width, corners, paint, palette } = options;
  const [left = "", right = ""] = corners;
  if (text === "") return palette.faint(`${left}${"─".repeat(width - 2)}${right}`);
  const shown = cropToWidth(text, width - 6);
  const rest = "─".repeat(width - 5 - displayWidth(shown));
  return `${palette.faint(`${left}─`)} ${paint(shown)} ${palette.faint(`${rest}${right}`)}`;
}
