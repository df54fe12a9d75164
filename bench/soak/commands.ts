/** The commands of the soak to the process of the Computer, and its answers: lines of JSON. */

/** A command. Its answer has the same `id`. */
export type Command =
  | { readonly do: "open"; readonly config: unknown }
  | { readonly do: "join"; readonly url: string; readonly office: string }
  | { readonly do: "leave" }
  | { readonly do: "reconfigure"; readonly config: unknown }
  | { readonly do: "startServer" | "stopServer" | "restartServer"; readonly server: string }
  | { readonly do: "setInput"; readonly input: string; readonly value: string }
  | {
    readonly do: "callTool";
    readonly tool: string;
    readonly params: Record<string, unknown>;
    readonly timeoutMs: number;
  }
  | { readonly do: "states" }
  | { readonly do: "measure" }
  | { readonly do: "snapshot"; readonly file: string }
  | { readonly do: "close" };

/** A line from the process of the Computer. */
export type Line =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly log: string; readonly level: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly failed: string };

/** The process's own measurements, after a garbage collection. */
export interface OwnMeasure {
  readonly heapMib: number;
  /** The memory that V8 has reserved for the heap, used or not. */
  readonly heapTotalMib: number;
  readonly externalMib: number;
  /** The number of Deno's resources by kind; absent if this version of Deno does not show them. */
  readonly resources?: Readonly<Record<string, number>>;
}
