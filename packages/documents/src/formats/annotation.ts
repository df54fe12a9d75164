/** Notes and comments. */
import type { ElementContents } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";

/**
 * A note, a comment or the like. Its text is part of the summary, because Markdown and text of a page show the summary alone.
 *
 * @param label what it is, such as `Comment on cell B2`
 */
export function annotation(label: string, content: ElementContents["annotation"]): DocumentElement {
  return { category: "annotation", summary: `${label}: ${content.text}`, content };
}
