/** The content of a file: metadata, and pages of elements. */
import type { DocumentPage } from "../../src/provider/mod.ts";

/** The content of one file. */
export interface FileContent {
  readonly title: string;
  readonly keywords: readonly string[];
  readonly summary: string;
  readonly pages: readonly DocumentPage[];
}

/** The first words of a text. */
export function firstWords(text: string, maxLength = 80): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
