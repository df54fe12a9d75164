/** The windows of one MCP server: their contents are kept until they change or become too old. */
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import { windowIdentity } from "../../uri/window_uri.ts";
import type { ListLimits } from "../../config/limits.ts";
import { EntryCache, type EntryCacheOptions } from "./cache.ts";

type Contents = readonly ResourceContents[];

export interface ServerWindowsContext
  extends
    Pick<EntryCacheOptions<Contents>, "read" | "onFailure" | "onLate" | "concurrency" | "maxAgeMs" | "now"> {
  readonly limits: ListLimits;
  readonly server: string;
  readonly warnOnce: WarnOnce;
}

export class ServerWindows {
  readonly cache: EntryCache<Contents>;
  readonly #context: ServerWindowsContext;
  #listed: readonly McpResource[] = [];

  constructor(context: ServerWindowsContext) {
    this.#context = context;
    const { server, warnOnce, limits: { maxWindowBytes, maxWindowsBytes } } = context;
    const onTooLarge = (uri: string) => {
      const message = "a window is left out: it or all windows of its MCP server together are too large";
      warnOnce.warn(message, { server, uri, limit: maxWindowBytes, limitOfAll: maxWindowsBytes });
      return [];
    };
    const bounds = { eachBytes: maxWindowBytes, totalBytes: maxWindowsBytes, onTooLarge };
    this.cache = new EntryCache<Contents>({ ...context, bounds });
  }

  /** Takes the server's list: forgets windows that are not in it. */
  follow(listed: readonly McpResource[]): void {
    this.#listed = listed;
    this.cache.follow(new Set(listed.map(({ uri }) => uri)));
  }

  /** The listed windows with their last known contents; only those of `identity`, if given. */
  list(identity: string | undefined): DesktopWindow[] {
    const { server } = this.#context;
    return this.#select(identity).map((resource) => ({
      server,
      resource,
      contents: this.cache.get(resource.uri),
    }));
  }

  /** Reads windows that may have changed; returns whether all of them were read in time. */
  async refresh(withinMs: number, identity: string | undefined): Promise<boolean> {
    return await this.cache.refresh(this.#select(identity).map(({ uri }) => uri), withinMs);
  }

  #select(identity: string | undefined): readonly McpResource[] {
    if (identity === undefined) return this.#listed;
    return this.#listed.filter(({ uri }) => windowIdentity(uri) === identity);
  }
}
