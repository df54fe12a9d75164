/** The tools that clients have called, as they were then: what a person allows in a client is allowed by its name alone. */
import { Digests } from "../json/digest.ts";
import type { OfficeTool } from "../agent/toolkit/toolset.ts";
import type { ToolAddress } from "../agent/toolkit/tool_names.ts";

/** The most tools of one Computer, and of all, that are remembered; further ones count as changed. */
const MAX_OF_COMPUTER = 5_000;
const MAX_TOOLS = 50_000;

/** What becomes of a tool that is another one than when a client called it first. */
export type OnToolChange = "allow" | "ask" | "block";

/** A tool as it was called first, as it is kept over restarts. */
export interface PinnedTool extends Pick<ToolAddress, "computer" | "tool"> {
  /** The SHA-256 of its title, description, schemas and annotations. */
  readonly digest: string;
}

export interface PinnedToolsOptions {
  readonly onChange?: OnToolChange | undefined;
  readonly given?: Iterable<PinnedTool> | undefined;
  /** Called when a tool was called for the first time. */
  readonly onPinned?: (() => void) | undefined;
}

/** Remembers each tool when it is called first, and tells whether it is still the same. */
export class PinnedTools {
  readonly onChange: OnToolChange;
  readonly #onPinned: () => void;
  /** By Computer, then by the name of the tool there. */
  readonly #pinned = new Map<string, Map<string, string>>();
  readonly #digests = new Digests();
  #size = 0;

  constructor({ onChange = "allow", given = [], onPinned = () => undefined }: PinnedToolsOptions = {}) {
    this.onChange = onChange;
    this.#onPinned = onPinned;
    for (const { computer, tool, digest } of given) this.#add(computer, tool, digest);
  }

  /** The tools that were called, for a file that keeps them. */
  get given(): PinnedTool[] {
    return [...this.#pinned].flatMap(([computer, tools]) =>
      [...tools].map(([tool, digest]) => ({ computer, tool, digest }))
    );
  }

  /** What becomes of this tool, when it has changed since it was called first; `undefined` when it runs as usual. */
  changeOf({ computer, tool, definition }: OfficeTool): "ask" | "block" | undefined {
    if (this.onChange === "allow") return undefined;
    const tools = this.#pinned.get(computer);
    const digest = tools?.get(tool);
    if (digest === undefined) return this.#hasRoom(tools) ? undefined : this.onChange;
    return digest === this.#digestOf(definition) ? undefined : this.onChange;
  }

  /** A client calls the tool. */
  pin({ computer, tool, definition }: OfficeTool): void {
    if (this.onChange === "allow" || this.#pinned.get(computer)?.has(tool) === true) return;
    if (this.#add(computer, tool, this.#digestOf(definition))) this.#onPinned();
  }

  #add(computer: string, tool: string, digest: string): boolean {
    const tools = this.#pinned.get(computer) ?? new Map();
    if (!this.#hasRoom(tools) || tools.has(tool)) return false;
    this.#pinned.set(computer, tools.set(tool, digest));
    this.#size++;
    return true;
  }

  #hasRoom(tools: ReadonlyMap<string, string> | undefined): boolean {
    return (tools?.size ?? 0) < MAX_OF_COMPUTER && this.#size < MAX_TOOLS;
  }

  #digestOf(definition: OfficeTool["definition"]): string {
    const { title, description, inputSchema, outputSchema, annotations } = definition;
    return this.#digests.of(definition, [title, description, inputSchema, outputSchema, annotations]);
  }
}
