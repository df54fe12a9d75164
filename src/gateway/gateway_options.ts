/** How a gateway is made, and what its host program and its clients see of it. */
import { Throttle } from "../async/throttle.ts";
import type { Access } from "../http/mcp/access.ts";
import type { GivenComputerName } from "../agent/group/computer_names.ts";
import { LIST_CHANGED_INTERVAL_MS } from "../agent/toolkit/mcp_server.ts";
import type { ToolkitOptions } from "../agent/toolkit/toolkit.ts";
import type { GivenName } from "../agent/toolkit/tool_names.ts";
import type { OnToolChange, PinnedTool } from "./pinned_tools.ts";

/** How a gateway presents its office. */
export interface GatewayOptions extends Pick<ToolkitOptions, "computers" | "callTimeoutMs" | "logger"> {
  /** Keeps names and called tools for the next run; they last as long as the gateway by default. */
  readonly memory?: GatewayMemory | undefined;
  /**
   * How long the first answer waits for the Server and for Computers that are slow, in milliseconds; 3,000 by default. The
   * tools that are known by then are named together.
   */
  readonly patienceMs?: number | undefined;
  /**
   * What clients of everything are offered: `all` tools, which is the default; tools to `search` and call all others; or
   * by the number of tools, `auto`: the search from 40 tools or about 10,000 tokens of definitions on.
   */
  readonly tools?: ToolsMode | undefined;
  /**
   * Whether to offer `list_computers`, `view_desktop`, `find_documents` and `read_document` beside the tools of the
   * Computers; `true` by default.
   */
  readonly builtinTools?: boolean | undefined;
  /**
   * Which clients get `search` and `fetch` over documents and windows, as the connectors and the deep research of ChatGPT
   * use them: those of OpenAI, by the name that they give themselves (`auto`, the default), `always` all, or `never` any.
   */
  readonly searchAndFetch?: SearchAndFetch | undefined;
  /**
   * What becomes of a tool whose title, description, schemas or annotations are others than when a client called it first:
   * `allow` it, which is the default; `ask` the owner at its Computer before each call; or `block`, so that it is neither
   * listed nor called. Clients that may always call a tool know it by its name alone.
   */
  readonly onChange?: OnToolChange | undefined;
  /** Why the Agent is not connected yet, in words for users, while `agent` is a promise. */
  readonly problem?: (() => string | undefined) | undefined;
  /** Called after each call of a client. An error that it throws is logged. */
  readonly onActivity?: ((activity: Activity) => void) | undefined;
}

/** What a gateway keeps over restarts, so that each tool stays the one that its clients know by a name. */
export interface KeptByGateway {
  /** The names that tools have been given. */
  readonly names: readonly GivenName[];
  /** The names of the Computers of several offices. */
  readonly computers: readonly GivenComputerName[];
  /** The tools that clients have called, as they were then. */
  readonly pinned: readonly PinnedTool[];
}

/** Where a gateway keeps that. */
export interface GatewayMemory {
  /** What was kept last. */
  readonly kept: KeptByGateway;
  /** Keeps this in its place. An error is logged. */
  keep(kept: KeptByGateway): void;
}

/** What a client is offered: `all` tools, a `search`, or `auto`: by the number and the size of the tools. */
export type ToolsMode = "all" | "search" | "auto";

/** Which clients get `search` and `fetch`. */
export type SearchAndFetch = "auto" | "always" | "never";

/** Whom a call was for, as the activity log has it. */
export interface CallTarget {
  /** The Computer; `undefined` for a tool of the gateway itself. */
  readonly computer: string | undefined;
  /** The tool, by the name that the client called. */
  readonly tool: string;
}

/** A call that has ended. */
export interface Activity extends CallTarget {
  /** The client's own name for itself, and its version. */
  readonly client: string;
  /** The id of the credential that admitted it over HTTP, which is never a secret; `owner` for the token of the owner, and without HTTP. */
  readonly credential: string;
  /** The name of the client in its credential; empty where that does not say. */
  readonly name?: string | undefined;
  /** Who has let the client in, such as whoever consented to a grant; absent where nobody is known. */
  readonly person?: string | undefined;
  /** The office; absent before it is known, and for several at once, where the name of the Computer says which. */
  readonly office?: string | undefined;
  /** The arguments, which may be secret. */
  readonly args: Readonly<Record<string, unknown>>;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** `asked` when the client's user has to answer first; the call then goes on with its next entry. */
  readonly outcome: "ok" | "error" | "cancelled" | "asked";
  /** The code of a failed call, such as 4005 for one that a person has refused; absent when the tool reports its own failure, unless a Computer of another implementation passes on what the tool wrote. */
  readonly code?: number | undefined;
  /** Why it has failed, such as `paused`, or `cancelled` for one that was cancelled at the Computer. */
  readonly reason?: string | undefined;
}

/** What has changed for clients: a list, or a resource that somebody follows. */
export type GatewayChange =
  & (
    | { readonly kind: "list"; readonly list: ListName }
    | { readonly kind: "resource"; readonly uri: string }
  )
  & {
    /** The Computer whose tools or resources changed; absent when those of several may have. */
    readonly computer?: string | undefined;
  };

/** An office as an MCP server. The Agent stays the caller's: close the gateway first, then the Agent. */
export interface Gateway extends AsyncDisposable {
  /** Calls `listener` after each change for clients, until the returned function is called. */
  onChange(listener: (change: GatewayChange) => void): () => void;
  /** Ends all calls that wait for an answer, and forgets the office. May be called twice. */
  close(): Promise<void>;
}

/** What a client reaches: everything; everything, but by searching; or one Computer. */
export type Scope =
  & (
    | { readonly kind: "all" }
    | { readonly kind: "search" }
    | { readonly kind: "computer"; readonly computer: string }
  )
  & {
    /** The Computers that exist for the client; all by default. */
    readonly only?: readonly string[] | undefined;
  };

/** What a client reaches by a path: of its Computers those alone that it may see. */
export function scopeFor(scope: Scope, { computers }: Access): Scope {
  return computers === undefined ? scope : { ...scope, only: [...new Set(computers)].sort() };
}

/** Whether a Computer exists for the client of a scope. */
export function sees({ only }: Scope, computer: string): boolean {
  return only === undefined || only.includes(computer);
}

/** Whether something may be of what a scope reaches. */
export function concerns(
  { computer }: { readonly computer?: string | undefined },
  scope: Scope,
): boolean {
  if (computer === undefined) return true;
  return sees(scope, computer) && (scope.kind !== "computer" || computer === scope.computer);
}

/** The lists of which clients are told that they have changed. */
export type ListName = "tools" | "resources" | "prompts";

/** Calls `tell` for each list that has changed, not more often than five times a second, until the returned function is called. */
export function throttleLists(
  onListChanged: (listener: (list: ListName) => void) => () => void,
  tell: (list: ListName) => void,
): () => void {
  const throttles = new Map<ListName, Throttle>();
  const unfollow = onListChanged((list) => {
    const throttle = throttles.get(list) ?? new Throttle(() => tell(list), LIST_CHANGED_INTERVAL_MS);
    throttles.set(list, throttle);
    throttle.request();
  });
  return () => {
    unfollow();
    for (const throttle of throttles.values()) throttle.close();
  };
}
