/** A tree of lines. */
import type { Palette } from "./palette.ts";

/** What each level of a tree is indented by. */
export const TREE_INDENT = 3;

/** A line, what else there is to say about it, and what is below it; all of it is safe to print. */
export interface Branch {
  readonly line: string;
  /** Lines under it that are no branches. */
  readonly details?: readonly string[] | undefined;
  readonly branches?: readonly Branch[] | undefined;
}

/** Draws branches below each other, joined to what is above them. */
export function drawTree(branches: readonly Branch[], palette: Palette): string[] {
  return branches.flatMap(({ line, details = [], branches: below = [] }, i) => {
    const isLast = i === branches.length - 1;
    const trunk = isLast ? "   " : palette.faint("│  ");
    const joint = below.length === 0 ? "  " : palette.faint("│ ");
    return [
      `${palette.faint(isLast ? "└─" : "├─")} ${line}`,
      ...details.map((detail) => `${trunk}${joint}${detail}`),
      ...drawTree(below, palette).map((line) => `${trunk}${line}`),
    ];
  });
}
