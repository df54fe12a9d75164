/** Checks the options of a window, and builds its entry in `resources/list`. */
import { isDateTime } from "../../protocol/form_answer.ts";
import type { McpResource, ResourceAnnotations } from "../../protocol/resources.ts";
import { excerpt } from "../../text/text.ts";
import { buildWindowUri, parseWindowUri, windowIdentity, windowQueryOf } from "../../uri/window_uri.ts";
import type { ReadRequest } from "../session/json_rpc.ts";

/** The intended reader of a resource (`docs/protocol/resources.md#annotations`). */
export type Audience = "user" | "assistant";

/** How a window is listed. All members can be changed later. */
export interface WindowLook {
  /** The name, for users and for the model. */
  readonly name: string;
  /** What the window shows. */
  readonly description?: string | undefined;
  /** The media type of its text; `text/plain` by default. */
  readonly mimeType?: string | undefined;
  /** From 0 to 1; the windows of an MCP server are ordered by descending priority. 0 by default. */
  readonly priority?: number | undefined;
  /** Whether the Desktop shows only this window of the MCP server; `false` by default. */
  readonly fullscreen?: boolean | undefined;
  /** The intended readers; `["assistant"]` by default, as the specification recommends. */
  readonly audience?: readonly Audience[] | undefined;
  /** When the window was last changed: a date, or a text in ISO 8601, at midnight or in UTC where it says no other. */
  readonly lastModified?: Date | string | undefined;
}

/** The address of a window: its URI, or the parts of the URI as plain text. */
export type WindowAddress =
  | { readonly uri: string; readonly host?: undefined; readonly path?: undefined }
  | { readonly uri?: undefined; readonly host: string; readonly path?: readonly string[] | undefined };

/** The text of a window, or the function that returns it at each read. */
export type WindowText =
  | { readonly text: string; readonly read?: undefined }
  | { readonly text?: undefined; read(request: ReadRequest): string | Promise<string> };

/** A window to publish. */
export type WindowOptions = WindowLook & WindowAddress & WindowText;

/**
 * Returns the URI under which a window is listed.
 *
 * @throws {TypeError} when it is not a window URI, or has a query, which is not part of a window's identity
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
 * Checks the options of a window's entry.
 *
 * @throws {RangeError} when the priority is not a number from 0 to 1, or `lastModified` is an invalid date
 * @throws {TypeError} when another option has a wrong type
 */
export function checkLook(uri: string, look: WindowLook): void {
  const { name, priority, fullscreen, audience, lastModified } = look;
  const refuse = (what: string) => `Cannot publish window "${uri}": ${what}`;
  if (typeof name !== "string" || name === "") throw new TypeError(refuse("it has no name"));
  if (priority !== undefined && !(typeof priority === "number" && priority >= 0 && priority <= 1)) {
    throw new RangeError(refuse(`its priority ${excerpt(priority)} is not a number from 0 to 1`));
  }
  if (fullscreen !== undefined && typeof fullscreen !== "boolean") {
    throw new TypeError(refuse("its fullscreen is not a boolean"));
  }
  if (audience !== undefined && !isAudience(audience)) {
    throw new TypeError(refuse('its audience is not a list of "user" and "assistant"'));
  }
  if (lastModified !== undefined) toInstant(lastModified, refuse);
}

/** The entry in `resources/list` (`docs/protocol/desktop.md#window-metadata`). */
export function toListedWindow(uri: string, look: WindowLook): McpResource {
  const { name, description, mimeType = "text/plain", priority, fullscreen, audience, lastModified } = look;
  const annotations: ResourceAnnotations = { audience: [...audience ?? ["assistant"]] };
  if (priority !== undefined) annotations.priority = priority;
  if (lastModified !== undefined) annotations.lastModified = toInstant(lastModified);
  const resource: McpResource = { uri, name, mimeType, annotations };
  if (description !== undefined) resource.description = description;
  if (fullscreen !== undefined) resource._meta = { fullscreen };
  return resource;
}

/**
 * An instant of RFC 3339, which MCP clients demand: a missing time is midnight, a missing offset UTC.
 *
 * @throws {RangeError} for an invalid date, also in programs without types; `refuse` completes its message
 */
export function toInstant(value: unknown, refuse = (what: string) => what): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  const parts = /^([\d-]+)(?:[T ]([\d:]+)(\.\d+)?(.*))?$/i.exec(typeof value === "string" ? value : "");
  const [, date, time = "00:00", fraction = "", offset = ""] = parts ?? [];
  const seconds = time.length === 5 ? ":00" : "";
  const instant = `${date}T${time}${seconds}${fraction}${offset === "" ? "Z" : offset.toUpperCase()}`;
  if (isDateTime(instant) && !Number.isNaN(Date.parse(instant))) return instant;
  throw new RangeError(refuse("its lastModified is not a valid date"));
}

function isAudience(audience: unknown): boolean {
  if (!Array.isArray(audience) || audience.length === 0) return false;
  return audience.every((each) => each === "user" || each === "assistant");
}
