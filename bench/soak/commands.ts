/** What the soak asks of the process that the Computer runs in: lines of JSON both ways. */

/** A command; `id` comes back with its answer. */
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

/** A line from the Computer's process. */
export type Line =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly log: string; readonly level: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly failed: string };

/** What the process knows of itself after a collection of garbage. */
export interface OwnMeasure {
  readonly heapMib: number;
  readonly externalMib: number;
  /** Deno's table of resources, by kind; absent where this Deno does not show it. */
  readonly resources?: Readonly<Record<string, number>>;
}
