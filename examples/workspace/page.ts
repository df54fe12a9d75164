/** What a file becomes: metadata and pages of elements, before anyone asks for a URI of it. */
import type { ElementCategory } from "../../mod.ts";

/** An element without the parts that depend on where it stands. */
export interface Block {
  readonly category: ElementCategory;
  readonly summary: string;
  readonly content: Record<string, unknown>;
}

/** A page of a file. */
export interface Page {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** A file, read. */
export interface FileContent {
  readonly title: string;
  readonly keywords: readonly string[];
  readonly summary: string;
  readonly pages: readonly Page[];
}

/** The first words of a text. */
export function firstWords(text: string, maxLength = 80): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
