/** What the Desktop is organized from. */
import type { McpResource, ResourceContents } from "../protocol/resources.ts";

/** A window as its MCP server listed it and as it was read. */
export interface DesktopWindow {
  /** The MCP server that it belongs to. */
  readonly server: string;
  /** Its entry in `resources/list`. */
  readonly resource: McpResource;
  /** The answer to `resources/read`; `undefined` when there is none. */
  readonly contents: readonly ResourceContents[] | undefined;
}
