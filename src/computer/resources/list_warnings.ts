/** Logs problems of the resources of one MCP server, in a limited number of lines. */
import type { LogFields } from "../../log.ts";
import { ServerNotRunningError } from "../../mcp/errors.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import { readLayout } from "../../organizer/windows.ts";
import { describeError } from "../../text/text.ts";
import type { ListLimits } from "../../config/limits.ts";
import { logCommandFor } from "../failures.ts";
import type { SortedResources } from "./kinds.ts";

const MAX_LINES = 20;

export class ListWarnings {
  readonly #server: string;
  readonly #warnOnce: Pick<WarnOnce, "warn">;
  readonly #limits: ListLimits;
  /** The URIs with a logged problem since the last list, by kind of problem. */
  readonly #logged = new Map<string, Set<unknown>>();

  constructor(
    server: string,
    { warnOnce, limits }: { readonly warnOnce: Pick<WarnOnce, "warn">; readonly limits: ListLimits },
  ) {
    this.#server = server;
    this.#warnOnce = warnOnce;
    this.#limits = limits;
  }

  /**
   * Logs a problem of one resource once. Above the limit, logs only that more resources have the problem.
   *
   * @param fields are logged, except `kind`: the kind of the problem, for messages that quote the server
   */
  warn(message: string, { kind = message, ...fields }: LogFields & { readonly kind?: string } = {}): void {
    const server = this.#server;
    const uris = this.#logged.get(kind) ?? new Set();
    this.#logged.set(kind, uris);
    if (uris.size < MAX_LINES) uris.add(fields["uri"]);
    if (uris.has(fields["uri"])) this.#warnOnce.warn(message, { server, ...fields });
    else {this.#warnOnce.warn("more resources have the same problem", {
        server,
        problem: kind,
      });}
  }

  /** Logs a failed list or read, unless the server is not running, which its state shows. */
  ofFailure(message: string, { uri, error }: { readonly uri?: string; readonly error: unknown }): void {
    if (error instanceof ServerNotRunningError) return;
    this.warn(message, { uri, error: describeError(error), see: logCommandFor(error, this.#server) });
  }

  /** Logs the problems of a new list. The layout of windows is checked only if the server shows windows. */
  ofList(
    { windows, invalid, tooLarge, excess }: SortedResources,
    { isShown }: { readonly isShown: boolean },
  ) {
    this.#logged.clear();
    const server = this.#server;
    const { maxResourceBytes: limit, maxResourceListBytes: bytes } = this.#limits;
    const { maxWindows, maxDocuments, maxSkillFiles } = this.#limits;
    for (const uri of invalid.slice(0, MAX_LINES + 1)) {
      this.warn("a listed resource has an invalid URI and is left out", { uri });
    }
    if (tooLarge > 0) {
      this.#warnOnce.warn("listed resources are left out: too large", {
        server,
        count: tooLarge,
        limit,
      });
    }
    if (excess > 0) {
      const most = { windows: maxWindows, documents: maxDocuments, skill_files: maxSkillFiles, bytes };
      this.#warnOnce.warn("listed resources are left out: too many", {
        server,
        count: excess,
        ...most,
      });
    }
    if (isShown) this.#ofLayouts(windows);
  }

  #ofLayouts(windows: SortedResources["windows"]): void {
    let count = 0;
    for (const resource of windows) {
      readLayout({ server: this.#server, resource, contents: undefined }, ({ server }, _code, message) => {
        if (++count <= MAX_LINES) this.#warnOnce.warn(message, { server, uri: resource.uri });
      });
    }
  }
}
