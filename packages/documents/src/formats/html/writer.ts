/** Other formats, written as HTML which is then read: so they share how lists, tables and cells become elements. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import type { ParseLimits } from "../format.ts";
import { plainNumber } from "../list_builder.ts";
import { readHtml } from "./mod.ts";

/** The address of a picture that stands for something else. */
const PLACE = /^element:(\d+)$/;

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/**
 * The beginning and the end of a list of one item, between which items below it may stand. What follows it with the next
 * number, at its end, goes on with it.
 *
 * @param label the number as its author sees it; `undefined` for a bullet. HTML writes no other than whole numbers.
 */
export function itemHtml(label: string | undefined, inner: string): readonly [open: string, close: string] {
  const number = plainNumber(label);
  if (number !== undefined) return [`<ol><li value="${number}">${inner}`, `</li></ol><!--${number + 1}-->`];
  const written = label === undefined ? "" : `${escapeHtml(label)} `;
  return [`<ul><li>${inner.replace(/^(?:<p>)?/, (begin) => begin + written)}`, "</li></ul>"];
}

/** Rows of cells as a table; the first row names the columns when all of its cells say something. */
export function tableHtml(rows: readonly (readonly string[])[]): string {
  const isNamed = rows.length > 1 && rows[0]?.every((cell) => />[^<]*[^<\s]/.test(cell)) === true;
  const cells = rows.map((row, index) =>
    index === 0 && isNamed ? row.join("").replace(/^<td|(?<=<\/td>)<td/g, "<th") : row.join("")
  );
  return `<table>${cells.map((row) => `<tr>${row}</tr>`).join("")}</table>`;
}

/** Keeps what HTML has no form for, and puts it back in its place. */
export class PlacedElements {
  readonly #elements: (DocumentElement | "page")[] = [];

  /** The HTML that stands for an element, or for the end of a page. */
  place(element: DocumentElement | "page"): string {
    return `<img src="element:${this.#elements.push(element) - 1}">`;
  }

  /** Reads HTML into what is between the ends of pages. Lists and blocks of code side by side are one. */
  read(html: string, limits: ParseLimits): DocumentElement[][] {
    const joined = html.replaceAll("</ul><ul>", "").replace(/<\/ol><!--(\d+)--><ol>(?=<li value="\1">)/g, "")
      .replaceAll("</pre><pre>", "\n");
    const segments: DocumentElement[][] = [[]];
    for (const element of readHtml(`<body>${joined}`, limits).elements) {
      const { category, content } = element;
      const [, place] = category === "image" ? PLACE.exec(content.url ?? "") ?? [] : [];
      const placed = place === undefined ? element : this.#elements[Number(place)];
      if (placed === "page") segments.push([]);
      else if (placed !== undefined) segments.at(-1)?.push(placed);
    }
    return segments.filter((segment) => segment.length > 0);
  }
}
