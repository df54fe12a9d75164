/** The faults of one MCP server of the soak. */

/** The behavior of a server from one start to the next. An absent member is a fault that the server does not have. */
export interface Profile {
  /** The name of the server, which is a part of the names of its tools and resources. */
  readonly name: string;
  /** Exits after this time. */
  readonly crashesAfterMs?: number;
  /** Stops answering after this time. */
  readonly freezesAfterMs?: number;
  /** Whether a frozen process does not read its input either. */
  readonly stopsWhenFrozen?: boolean;
  /** Whether it prints lines that are not messages before each answer. */
  readonly printsGarbage?: boolean;
  /** Whether the process and a child process ignore a closed stdin and SIGTERM. */
  readonly isStubborn?: boolean;
  /** How long it waits before it reads its input. */
  readonly startMs?: number;
  /** How often it sends a notification that a window has changed. */
  readonly updatesEveryMs?: number;
}
