/** Options and results of the methods of `RemoteComputer`. */
import type { CompletionTarget } from "../protocol/pages.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import type { CallProgress } from "../protocol/progress.ts";
import type { CallTimeouts } from "../protocol/call.ts";
import type { CallWait, OnQuestion } from "./questions.ts";
import type { RequestOptions } from "./requests.ts";

/** For whom a Computer is used, and how it is called. */
export interface RemoteComputerOptions {
  /**
   * The client that the requests are for, such as the name of an MCP client: the Computer shows it beside the Agent's name
   * where its owner confirms a call, and trusts it with nothing. Characters that cannot be seen are left out, and of a
   * long name the first 64 characters count (`docs/protocol/extensions.md#clients`).
   */
  readonly client?: string | undefined;
  /** The name that the object and its questions show, such as `laptop@shop` beside another laptop; its own by default. */
  readonly as?: string | undefined;
  /**
   * The id of the machine that is meant, as `agent.listPresence()` tells it: no other one is asked, also when the name has
   * changed hands. By default the machine that has the name at the first request
   * (`docs/protocol/extensions.md#machines`).
   */
  readonly machine?: string | undefined;
}

/** How a call is made again that has failed. */
export interface CallRetry {
  /** The time in which attempts begin, from the first one, in milliseconds; at least 0. */
  readonly patienceMs: number;
  /**
   * Whether a second run with the same arguments does nothing more. Then a failure after which the tool may have run does
   * not end it, but for a time-out and a cancel of the owner; `reqId` may change. `false` by default.
   */
  readonly isIdempotent?: boolean | undefined;
}

/** Options of a tool call. */
export interface CallToolOptions extends RequestOptions, CallTimeouts {
  /**
   * The id of the call; random by default. A repeated call with the same id gets the answer of the first one, and the
   * tool runs once, while the Computer remembers it (`docs/protocol/calls-and-offices.md#repeated-calls`).
   */
  readonly reqId?: string | undefined;
  /**
   * Makes the call again while waiting helps: the connection is lost, the Server restarts or limits requests, the Computer
   * or the MCP server is not back yet, or too many calls run. By default it is made once.
   */
  readonly retry?: CallRetry | undefined;
  /**
   * Whether the Computer asks its owner before the tool runs, whatever the configuration and earlier answers allow
   * (`docs/protocol/extensions.md#asked-calls`). `false` by default. Where the Computer or the Server does not know this,
   * the call rejects with an `UnsupportedRequestError`, and the tool does not run.
   */
  readonly ask?: boolean | undefined;
  /**
   * Called with the progress that the MCP server reports, at most twice a second, until the call ends
   * (`docs/protocol/progress.md`). What is reported in the last half second may be missing: the result tells the end. Never
   * called when the Server or the Computer does not support it.
   */
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /**
   * Lets the call go on while it makes progress: it ends when it has made none for `timeoutMs`, and after `maxTimeoutMs`
   * at the latest. `false` by default, and without effect when the Computer does not support it.
   */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /**
   * Answers the questions of this call; that of `AgentOptions.onQuestion` by default. While the user is asked, no
   * time-out runs, and `timeoutMs` counts anew after each answer (`docs/protocol/questions.md`).
   */
  readonly onQuestion?: OnQuestion | undefined;
  /**
   * Called when the person at the Computer is asked for a confirmation or an answer. No time-out runs until they have
   * answered, for `timeLeftMs` at most (10 minutes by default); abort `signal` to wait no longer. Never called when no
   * call to the Computer had an `onQuestion`: the call then ends after `timeoutMs`.
   */
  readonly onWait?: ((wait: CallWait) => void) | undefined;
}

/** Which windows to fetch. */
export interface DesktopOptions extends RequestOptions {
  /** The most windows to fetch; no windows at 0 and below; all by default. */
  readonly size?: number | undefined;
  /** Only the window with this URI. */
  readonly window?: string | undefined;
}

/** Which documents to fetch (`docs/protocol/finder.md#filters`). */
export interface FinderOptions extends RequestOptions {
  /** Only documents whose title, keywords or summary contain one of these, in any case; all by default. */
  readonly keywords?: readonly string[] | undefined;
  /** Only documents of exactly this type, such as `pdf`; all by default. */
  readonly fileType?: string | undefined;
  /**
   * Words to search in the text of documents, in place of the filters (`docs/protocol/extensions.md#search-in-the-text`). An
   * older Computer compares them with titles, summaries and keywords; its documents then have no `hits`.
   */
  readonly query?: string | undefined;
  /** How many matching documents to skip; 0 by default. */
  readonly offset?: number | undefined;
  /** The most documents to fetch; 20 by default, at most 100. */
  readonly limit?: number | undefined;
}

/** Options for reading a resource. */
export interface ReadResourceOptions extends RequestOptions {
  /** The MCP server to read from, by its name in the Computer's configuration; found by the URI's host by default. */
  readonly mcpServer?: string | undefined;
}

/** Which MCP servers to list. */
export interface McpServerOptions extends RequestOptions {
  /** Only the MCP server of this name; all by default. */
  readonly mcpServer?: string | undefined;
}

/** Which page of a list to fetch. */
export interface PageRequestOptions extends RequestOptions {
  /** Where the page begins, as the page before it says; the first page by default. */
  readonly cursor?: string | undefined;
}

/** Options for filling in a prompt. */
export interface PromptOptions extends RequestOptions {
  /**
   * The MCP server of the prompt, by its name in the Computer's configuration; by default the first one, in order of
   * precedence, that lists a prompt of this name.
   */
  readonly mcpServer?: string | undefined;
}

/** The parameter to complete. */
export type CompleteOptions = ReadResourceOptions & CompletionTarget & {
  /** The name of the parameter, and the beginning of its value, which may be empty. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The values of the other parameters, as far as they are known; none by default. */
  readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
};

/** Changes of resources and of lists of resources. */
export interface ResourceUpdates {
  /** In the order of the changes. An update without a `uri` means the list of its MCP server. */
  readonly updates: readonly ResourceUpdate[];
  /** The `cursor` for the next request. */
  readonly cursor: string;
  /** Whether the Computer has more updates: request them with `cursor`. */
  readonly hasMore: boolean;
}
