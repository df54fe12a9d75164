/** What an author says of a window, checked, and as MCP lists it. */
import type { McpResource, ResourceAnnotations } from "../../protocol/resources.ts";
import { excerpt } from "../../uri/excerpt.ts";
import { buildWindowUri, parseWindowUri, windowIdentity, windowQueryOf } from "../../uri/window_uri.ts";
import type { ReadRequest } from "../session/json_rpc.ts";

/** For whom a resource is (`docs/protocol/resources.md#annotations`). */
export type Audience = "user" | "assistant";

/** How a window is listed; all of it may be changed later. */
export interface WindowLook {
  /** For people, and for the model. */
  readonly name: string;
  /** What it shows. */
  readonly description?: string | undefined;
  /** The media type of its text; `text/plain` by default. */
  readonly mimeType?: string | undefined;
  /** From 0 to 1, the higher the further in front among the windows of this MCP server; absent counts as 0. */
  readonly priority?: number | undefined;
  /** Shows this window alone of all windows of this MCP server; absent counts as false. */
  readonly fullscreen?: boolean | undefined;
  /** For whom it is; `["assistant"]` by default, as the specification recommends. */
  readonly audience?: readonly Audience[] | undefined;
  /** When it last changed; only passed on. */
  readonly lastModified?: Date | undefined;
}

/** What a window is identified by: its URI, or the parts of it as plain text. */
export type WindowAddress =
  | { readonly uri: string; readonly host?: undefined; readonly path?: undefined }
  | { readonly uri?: undefined; readonly host: string; readonly path?: readonly string[] | undefined };

/** Where a window's text comes from: it is given, or made whenever somebody reads the window. */
export type WindowText =
  | { readonly text: string; readonly read?: undefined }
  | { readonly text?: undefined; read(request: ReadRequest): string | Promise<string> };

/** A window to publish. */
export type WindowOptions = WindowLook & WindowAddress & WindowText;

/**
 * The URI under which a window is listed.
 *
 * @throws {TypeError} when it is no window URI, or has a query, which would identify nothing
 */
export function windowUriOf(address: WindowAddress): string {
  if (address.uri === undefined) return buildWindowUri({ host: address.host, path: address.path ?? [] });
  const { uri } = address;
  if (windowQueryOf(uri) !== undefined) {
    throw new TypeError(`Cannot publish window ${excerpt(uri)}: a window URI has no query`);
  }
  return windowIdentity(uri) ?? buildWindowUri(parseWindowUri(uri));
}

/**
 * Checks how a window shall be listed.
 *
 * @throws {RangeError} when the priority is not a number from 0 to 1, or `lastModified` is no time
 * @throws {TypeError} when anything else is not what its type says
 */
export function checkLook(uri: string, look: WindowLook): void {
  const { name, priority, fullscreen, audience, lastModified } = look;
  const refuse = (what: string) => `Cannot publish window "${uri}": ${what}`;
  if (typeof name !== "string" || name === "") throw new TypeError(refuse("it has no name"));
  if (priority !== undefined && !(typeof priority === "number" && priority >= 0 && priority <= 1)) {
    throw new RangeError(refuse(`its priority ${excerpt(priority)} is not a number from 0 to 1`));
  }
  if (fullscreen !== undefined && typeof fullscreen !== "boolean") {
    throw new TypeError(refuse("fullscreen is not a boolean"));
  }
  if (audience !== undefined && !isAudience(audience)) {
    throw new TypeError(refuse('its audience is not a list of "user" and "assistant"'));
  }
  if (lastModified !== undefined && Number.isNaN(lastModified.getTime())) {
    throw new RangeError(refuse("lastModified is not a time"));
  }
}

/** The entry in `resources/list` (`docs/protocol/desktop.md#window-metadata`). */
export function toListedWindow(uri: string, look: WindowLook): McpResource {
  const { name, description, mimeType = "text/plain", priority, fullscreen, audience, lastModified } = look;
  const annotations: ResourceAnnotations = { audience: [...audience ?? ["assistant"]] };
  if (priority !== undefined) annotations.priority = priority;
  if (lastModified !== undefined) annotations.lastModified = lastModified.toISOString();
  const resource: McpResource = { uri, name, mimeType, annotations };
  if (description !== undefined) resource.description = description;
  if (fullscreen !== undefined) resource._meta = { fullscreen };
  return resource;
}

function isAudience(audience: unknown): boolean {
  if (!Array.isArray(audience) || audience.length === 0) return false;
  return audience.every((each) => each === "user" || each === "assistant");
}
