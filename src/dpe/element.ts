/** Checks an element of a peer, and gives it the type of its category. */
import type { DPEElementDetail } from "../protocol/dpe.ts";
import type { DPEElement } from "../protocol/dpe_content.ts";
import { readContent } from "./content.ts";

/**
 * Checks the content of an element, and returns the element with the type of its category. Optional members of a wrong
 * type are removed, nested values in table cells become JSON strings, the aliases `src`, `href` and `children` become
 * `url` and `items`, and unknown members are kept.
 *
 * Specification: `docs/protocol/finder.md#element-content`.
 *
 * @returns `undefined` when the category is unknown, or the content does not match it
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
  // Category and content come from one member of the union.
  return typed === undefined ? undefined : { ...element, ...typed } as DPEElement;
}
