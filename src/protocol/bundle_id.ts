/** The identity of an MCP server from protocol 0.3 on (`docs/protocol/versions.md#bundle-ids`). */

const SEPARATOR = "__";
const CHARACTERS = /^[A-Za-z0-9_-]+$/;

/** What is wrong with a `bundle_id`; `undefined` when it can be used. */
export function bundleIdProblem(id: string): string | undefined {
  if (id === "") return "must not be empty";
  if (!CHARACTERS.test(id)) return 'may have only letters of ASCII, digits, "_" and "-"';
  return id.includes(SEPARATOR)
    ? 'must not have two "_" in a row: they separate it from the name of a tool'
    : undefined;
}

/** The name under which a tool is listed and called: `{bundle_id}__{tool}`. */
export function buildExposedName(bundleId: string, tool: string): string {
  return `${bundleId}${SEPARATOR}${tool}`;
}

/** The parts of a tool's exposed name. */
export interface ExposedName {
  /** The identity of the MCP server. */
  readonly bundleId: string;
  /** The alias of the tool, or its own name. */
  readonly tool: string;
}

/**
 * Splits the name of a tool, for display and for grouping; calls use the whole name.
 *
 * @param bundleId The identity of its MCP server where it is known. Without it the first `__` separates the parts, which
 *   is wrong for an identity that ends with `_`.
 * @return `undefined` for a name without an identity.
 *
 * Specification: `docs/protocol/versions.md#bundle-ids`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { splitExposedName } from "@a2c-smcp/sdk/agent";
 *
 * assertEquals(splitExposedName("files__read"), { bundleId: "files", tool: "read" });
 * assertEquals(splitExposedName("files___read", "files_"), { bundleId: "files_", tool: "read" });
 * ```
 */
export function splitExposedName(name: string, bundleId?: string): ExposedName | undefined {
  const start = bundleId === undefined ? undefined : buildExposedName(bundleId, "");
  if (bundleId !== undefined && start !== undefined && name.startsWith(start)) {
    return { bundleId, tool: name.slice(start.length) };
  }
  const cut = name.indexOf(SEPARATOR);
  return cut < 1 ? undefined : { bundleId: name.slice(0, cut), tool: name.slice(cut + SEPARATOR.length) };
}
