/** How one MCP server of the soak misbehaves. */

/** One start's behaviour; a member that is absent is a fault that the server does not have. */
export interface Profile {
  /** Its own name, in front of its tools and in its resources. */
  readonly name: string;
  /** Ends by itself so long after its start. */
  readonly crashesAfterMs?: number;
  /** Answers nothing any more so long after its start. */
  readonly freezesAfterMs?: number;
  /** Whether a frozen process does not even read what it is sent. */
  readonly stopsWhenFrozen?: boolean;
  /** Prints lines that are no messages before each answer. */
  readonly printsGarbage?: boolean;
  /** Whether the process and a child process ignore a closed stdin and SIGTERM. */
  readonly isStubborn?: boolean;
  /** How long it takes before it reads anything. */
  readonly startMs?: number;
  /** How often it sends a notification that a window has changed. */
  readonly updatesEveryMs?: number;
}
