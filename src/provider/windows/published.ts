/** A published window. */
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import type { ReadRequest } from "../session/json_rpc.ts";
import { checkLook, toListedWindow, type WindowLook, type WindowText } from "./options.ts";

export interface WindowListener {
  onTextChange(uri: string): void;
  onLookChange(): void;
  onRemove(uri: string): void;
}

/**
 * A published window, returned by `Provider.publishWindow()`. Every change notifies the clients.
 *
 * Specification: `docs/protocol/desktop.md#mcp-servers-with-windows`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { Provider } from "@a2c-smcp/sdk/provider";
 *
 * const provider = new Provider();
 * const status = provider.publishWindow({ host: "com.example.app", path: ["status"], name: "Status", text: "idle" });
 * assertEquals(status.uri, "window://com.example.app/status");
 *
 * status.update("running");
 * status.set({ priority: 0.6 });
 * assertThrows(() => status.set({ priority: 60 }), RangeError, "from 0 to 1");
 * status.remove();
 * ```
 */
export interface PublishedWindow {
  /** The URI in `resources/list`. */
  readonly uri: string;
  /**
   * Notifies the subscribers of the window that its text has changed (`resources/updated`). A `text` replaces the text
   * or the `read()` of the window; without it they stay.
   *
   * @throws {TypeError} when `text` is not a string, or the window was removed
   */
  update(text?: string): void;
  /**
   * Changes how the window is listed; members that `look` omits stay. Notifies every client (`list_changed`) if
   * something has changed.
   *
   * @throws {RangeError} when the priority is not from 0 to 1
   * @throws {TypeError} when another member has a wrong type, or the window was removed
   */
  set(look: Partial<WindowLook>): void;
  /** Removes the window and notifies every client (`list_changed`). Idempotent. */
  remove(): void;
}

export class Window implements PublishedWindow {
  readonly uri: string;
  readonly #listener: WindowListener;
  #look: WindowLook;
  #text: WindowText;
  #isRemoved = false;

  /** Throws a TypeError when `window` is invalid. */
  constructor(uri: string, window: WindowLook & WindowText, listener: WindowListener) {
    checkLook(uri, window);
    this.uri = uri;
    this.#look = window;
    this.#text = checkText(uri, window);
    this.#listener = listener;
  }

  update(text?: string): void {
    this.#mustExist("update");
    if (text !== undefined) this.#text = checkText(this.uri, { text });
    this.#listener.onTextChange(this.uri);
  }

  set(look: Partial<WindowLook>): void {
    this.#mustExist("change");
    const changed = { ...this.#look };
    Object.assign(
      changed,
      Object.fromEntries(Object.entries(look).filter(([, value]) => value !== undefined)),
    );
    checkLook(this.uri, changed);
    const before = JSON.stringify(this.toResource());
    this.#look = changed;
    if (JSON.stringify(this.toResource()) !== before) this.#listener.onLookChange();
  }

  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#listener.onRemove(this.uri);
  }

  toResource(): McpResource {
    return toListedWindow(this.uri, this.#look);
  }

  /** The answer to `resources/read`, with `uri` as the client spelled it. */
  async read(uri: string, request: ReadRequest): Promise<ResourceContents> {
    const { mimeType = "text/plain" } = this.#look;
    const text = this.#text.read === undefined ? this.#text.text : await this.#text.read(request);
    if (typeof text !== "string") {
      throw new TypeError(`Cannot read window "${this.uri}": its text is not a string`);
    }
    return { uri, mimeType, text };
  }

  #mustExist(verb: string): void {
    if (this.#isRemoved) throw new TypeError(`Cannot ${verb} window "${this.uri}": it was removed`);
  }
}

function checkText(uri: string, source: WindowText): WindowText {
  const { text, read } = source;
  if (typeof text === "string" && read === undefined) return { text };
  if (text !== undefined || typeof read !== "function") {
    throw new TypeError(`Cannot publish window "${uri}": it needs either text or read()`);
  }
  return { read: (request) => read.call(source, request) };
}
