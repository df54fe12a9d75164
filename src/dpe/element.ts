/** From an element as it arrives to one whose content is typed. */
import type { DPEElementDetail } from "../protocol/dpe.ts";
import type { DPEElement } from "../protocol/dpe_content.ts";
import { readContent } from "./content.ts";

/**
 * Gives an element the type of its category. Its content was written by a stranger, so it is read: optional members
 * of a wrong type are left out, cells of a table that are no simple values become JSON texts, other words for a
 * member (`src`, `href`, `children`) become ours, and members that the shape does not name are kept.
 *
 * Specification: `docs/protocol/finder.md#element-content`.
 *
 * @returns `undefined` when the category is none of the 19, or the content is not what it promises
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { toElement } from "@a2c-smcp/sdk";
 *
 * const element = toElement({ element_id: "h-1", category: "heading", content: { text: "Sales" } });
 * assertEquals(element?.category === "heading" && element.content.level, 1);
 * assertEquals(toElement({ element_id: "h-2", category: "heading", content: {} }), undefined);
 * ```
 */
export function toElement(element: DPEElementDetail): DPEElement | undefined {
  const typed = readContent(element);
  // Category and content come from one entry of the union
  return typed === undefined ? undefined : { ...element, ...typed } as DPEElement;
}
