/** The tools of all Computers of an office, by the names under which clients call them. */
import { type Logger, silentLogger } from "../../log.ts";
import type { SMCPTool } from "../../protocol/tools.ts";
import { toListEntry } from "./list_entries.ts";
import type { McpTool } from "../../local_tools/mcp.ts";
import type { KnownComputer, OfficeChange, OfficeView } from "./office_view.ts";
import { type ToClientUri, toMcpTool } from "./tool_definition.ts";
import type { ToolAddress, ToolNames } from "./tool_names.ts";

export interface OfficeTool extends ToolAddress {
  readonly definition: McpTool;
}

export interface GoneComputer {
  readonly computer: string;
  readonly since: Date;
}

const NO_TOOLS: readonly SMCPTool[] = [];

interface Translated {
  readonly source: readonly SMCPTool[];
  readonly isStale: boolean;
  readonly tools: readonly OfficeTool[];
}

/** Lists tools and finds them by name. Lists are made once for each change, and only for the Computers that changed. */
export class Toolset {
  readonly #view: OfficeView;
  readonly #names: ToolNames;
  readonly #toClientUri: ToClientUri;
  readonly #onNames: () => void;
  readonly #log: Logger;
  readonly #translated = new Map<string, Translated>();
  #all: readonly OfficeTool[] | undefined;
  #isStarted = false;
  #byName = new Map<string, OfficeTool>();

  constructor(
    view: OfficeView,
    { names, toClientUri, onNames = () => undefined, logger = silentLogger }: {
      readonly logger?: Logger | undefined;
      readonly names: ToolNames;
      readonly toClientUri: ToClientUri;
      readonly onNames?: (() => void) | undefined;
    },
  ) {
    this.#view = view;
    this.#names = names;
    this.#toClientUri = toClientUri;
    this.#onNames = onNames;
    this.#log = logger;
    view.onChange((change) => this.#onChange(change));
  }

  /**
   * Gives names to the tools that are there, and from now on to each newcomer at once. Until then tools are collected
   * and none is offered, so that those that are there from the start are named together.
   */
  start(): void {
    this.#isStarted = true;
    this.#all = undefined;
    void this.all;
  }

  /** All tools, by Computer and in its order. The list stays the same object until something changes. */
  get all(): readonly OfficeTool[] {
    return this.#all ??= this.#build();
  }

  /** Why the office cannot be reached, in words for users; `undefined` while it can. */
  get problem(): string | undefined {
    return this.#view.problem;
  }

  get computers(): string[] {
    void this.all;
    return [...this.#translated.keys()];
  }

  of(computer: string): readonly OfficeTool[] {
    void this.all;
    return this.#translated.get(computer)?.tools ?? [];
  }

  find(name: string): OfficeTool | undefined {
    void this.all;
    return this.#byName.get(name);
  }

  /** The Computer of a tool that is gone, and since when, as far as that is known. */
  goneOf(name: string): GoneComputer | undefined {
    const { computer = "" } = this.#names.addressOf(name) ?? {};
    const since = this.#view.goneSince(computer);
    return since && { computer, since };
  }

  #onChange({ kind }: OfficeChange): void {
    if (kind !== "tools" && kind !== "members" && kind !== "connection") return;
    this.#all = undefined;
    if (this.#isStarted) void this.all;
  }

  #build(): readonly OfficeTool[] {
    if (!this.#isStarted) return [];
    const { computers } = this.#view;
    if (this.#names.assign(computers.flatMap(toAddresses))) this.#onNames();
    for (const name of this.#translated.keys()) if (!this.#view.has(name)) this.#translated.delete(name);
    const all = computers.flatMap((computer) => this.#translate(computer));
    this.#byName = new Map(all.map((tool) => [tool.definition.name, tool]));
    return all;
  }

  #translate(known: KnownComputer): readonly OfficeTool[] {
    const { name: computer, tools: source = NO_TOOLS, machine, problem } = known;
    const isStale = !this.#view.isConnected || problem !== undefined;
    const before = this.#translated.get(computer);
    if (before?.source === source && before.isStale === isStale) return before.tools;
    const tools = uniqueByName(source).flatMap((tool): OfficeTool[] => {
      const address = { computer, machine, tool: tool.name };
      const name = this.#names.nameOf(address);
      if (name === undefined) return [];
      const place = { name, computer, isStale, toClientUri: this.#toClientUri };
      const definition = toListEntry("tool", toMcpTool(tool, place));
      if (definition !== undefined) return [{ ...address, definition }];
      this.#log.warn("tool left out: its definition is too large, or nested too deeply", {
        computer,
        tool: name,
      });
      return [];
    });
    this.#translated.set(computer, { source, isStale, tools });
    return tools;
  }
}

function toAddresses({ name: computer, machine, tools = NO_TOOLS }: KnownComputer): ToolAddress[] {
  return uniqueByName(tools).map(({ name: tool }) => ({ computer, machine, tool }));
}

/** A Computer of another program may list a name twice; it can only call the first. */
function uniqueByName(tools: readonly SMCPTool[]): SMCPTool[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => !seen.has(name) && seen.add(name));
}
