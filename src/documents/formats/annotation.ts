/** Notes and comments. */
import type { ElementContents } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";

/**
 * A note, a comment or the like. Its text is part of the summary, because Markdown and text of a page show the summary alone.
 *
 * @param label what it is, such as `Comment on cell B2`
 */
export function annotation(label: string, content: ElementContents["annotation"]): DocumentElement {
  return { category: "annotation", summary: `${label}: ${content.text}`, content };
}
