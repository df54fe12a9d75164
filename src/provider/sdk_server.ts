/** What the kit needs of a server of the SDK; a type of our own, so that it fits every copy and version of it. */

/** The SDK's `Server`. */
export interface SdkServer {
  /** Its connection; `undefined` as long as there is none. */
  readonly transport?: unknown;
  /** The author's callback for errors. */
  readonly onerror?: unknown;
  /** Says what the server can do, before it is connected. */
  registerCapabilities(capabilities: {
    resources?: { subscribe?: boolean; listChanged?: boolean };
    completions?: Record<string, never>;
  }): void;
  /** Connects it; the argument is the SDK's `Transport`. */
  connect(transport: never): Promise<void>;
}

/** The SDK's `McpServer`, which has a `Server` inside. */
export interface SdkMcpServer {
  /** The server inside. */
  readonly server: SdkServer;
}
