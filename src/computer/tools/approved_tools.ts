/** The tools that a person has allowed for good, as they were then, for entries with `on_change`. */
import { Digests } from "../../json/digest.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import type { McpTool } from "../../mcp/entries.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { describeError } from "../../text/text.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import {
  definitionOf,
  describeChanges,
  type ToolChange,
  toolChanges,
  type ToolDefinition,
} from "./tool_changes.ts";

/**
 * The most tools of one MCP server that are remembered. Further ones count as changed: a server that could make others
 * forgotten could change them unseen.
 */
const MAX_OF_SERVER = 1_000;
/** The most characters of a definition that is kept, so that a change can be shown; of a longer one, a digest is. */
const MAX_DEFINITION_LENGTH = 8_192;
/** The most characters of the kept text; a longer one is kept without definitions. */
const MAX_TEXT_LENGTH = 32 * 1024 * 1024;

/** The members of an entry that say nothing of what the tools of its server are. */
const OTHER_MEMBERS: ReadonlySet<string> = new Set([
  "disabled",
  "forbidden_tools",
  "allowed_tools",
  "tool_meta",
]);

/** Keeps the allowed tools over restarts, as one text. */
export interface ApprovalStore {
  /** Reads the text; `undefined` when there is none. */
  read(): Promise<string | undefined>;
  /** Writes it whole. */
  write(text: string): Promise<void>;
}

/** A tool as it was allowed. */
interface Approved {
  readonly digest: string;
  readonly definition?: ToolDefinition | undefined;
  /** What was different when the tool was seen last, in a few words; absent when it was the same. */
  readonly changed?: string | undefined;
}

/** The tools of an MCP server, with the digest of the entry with which its owner allowed them. */
interface ApprovedServer {
  readonly entry: string;
  readonly tools: Map<string, Approved>;
}

/** A tool that is another one than the person has allowed. */
export interface ChangedTool {
  /** Whether it is set aside; otherwise a person is asked about each call. */
  readonly isBlocked: boolean;
  /** The parts that differ. */
  readonly changes: readonly ToolChange[];
  /** What differs, in a few words. */
  readonly summary: string;
}

export interface ApprovedToolsParts extends Pick<SharedParts, "log" | "warnOnce"> {
  readonly store: ApprovalStore | undefined;
  /** Called when a tool may have become another one. */
  readonly onChange: () => void;
}

interface Place {
  readonly server: Pick<SupervisedServer, "name" | "config">;
  readonly tool: McpTool;
}

/**
 * Remembers each tool with `auto_apply` of an entry with `on_change` as it is when it is seen first, since its owner has
 * allowed it then. One that the MCP server lists otherwise later has changed, until a person allows it anew, or edits the
 * entry.
 */
export class ApprovedTools {
  /** Resolves when what was kept is known. Never rejects. */
  readonly ready: Promise<void>;
  /** Whether it is known. */
  isReady = false;
  readonly #parts: ApprovedToolsParts;
  readonly #servers = new Map<string, ApprovedServer>();
  /** Unchanged tools and entries stay the same objects. */
  readonly #digests = new Digests();
  #writing: Promise<void> = Promise.resolve();
  #isWriteAsked = false;

  constructor(parts: ApprovedToolsParts) {
    this.#parts = parts;
    this.ready = this.#read().then(() => {
      this.isReady = true;
      parts.onChange();
    });
  }

  /** Whether a tool has changed since it was allowed; one that is seen for the first time is remembered. */
  changeOf(
    { server, tool }: Place,
    { isAutoApplied }: { readonly isAutoApplied: boolean },
  ): ChangedTool | undefined {
    const { on_change: onChange } = server.config;
    if (!isAutoApplied || onChange === undefined || onChange === null || onChange === "allow") {
      return undefined;
    }
    if (!this.isReady) return undefined;
    const digest = this.#digests.of(tool, definitionOf(tool));
    const { tools } = this.#serverOf({ server, tool });
    const before = tools.get(tool.name);
    if (before === undefined && tools.size < MAX_OF_SERVER) {
      this.#keep({ server, tool }, this.#toApproved(tool));
      return undefined;
    }
    if (before?.digest === digest) {
      if (before.changed !== undefined) this.#keep({ server, tool }, { ...before, changed: undefined });
      return undefined;
    }
    const known = before?.definition === undefined ? [] : toolChanges(before.definition, definitionOf(tool));
    const changes = known.length > 0 ? known : [{ part: "definition", removed: [], added: [] }];
    const summary = `its ${describeChanges(changes)}`;
    if (before !== undefined && before.changed !== summary) {
      this.#keep({ server, tool }, { ...before, changed: summary });
    }
    const what = onChange === "block" ? "it is set aside" : "its calls are asked about";
    this.#parts.warnOnce.warn(`a tool has changed since it was allowed: ${what}`, {
      server: server.name,
      tool: tool.name,
      changed: summary,
    });
    return { isBlocked: onChange === "block", changes, summary };
  }

  /** A person has allowed the tool as it is now. */
  approve(place: Place): void {
    this.#keep(place, this.#toApproved(place.tool));
    this.#parts.onChange();
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  /**
   * An owner who edits what the entry of a server runs allows its tools as they are then. To hide a tool, or to let one run
   * unasked, says nothing of the others.
   */
  #serverOf({ server: { name, config } }: Place): ApprovedServer {
    const allowed = Object.entries(config).filter(([member]) => !OTHER_MEMBERS.has(member));
    const entry = this.#digests.of(config, allowed);
    const known = this.#servers.get(name);
    if (known?.entry === entry) return known;
    const fresh = { entry, tools: new Map<string, Approved>() };
    this.#servers.set(name, fresh);
    return fresh;
  }

  #keep(place: Place, approved: Approved): void {
    this.#serverOf(place).tools.set(place.tool.name, approved);
    if (this.#isWriteAsked) return;
    this.#isWriteAsked = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    this.#isWriteAsked = false;
    const whole = this.#toText((approved) => approved);
    const text = whole.length <= MAX_TEXT_LENGTH
      ? whole
      : this.#toText(({ digest, changed }) => ({ digest, changed }));
    await this.#parts.store?.write(text).catch((error: unknown) => {
      this.#parts.log.error("allowed tools not kept", { error: describeError(error) });
    });
  }

  #toApproved(tool: McpTool): Approved {
    const definition = definitionOf(tool);
    const digest = this.#digests.of(tool, definition);
    return { digest, ...(JSON.stringify(definition).length <= MAX_DEFINITION_LENGTH ? { definition } : {}) };
  }

  #toText(toKept: (approved: Approved) => Approved): string {
    const servers = [...this.#servers].map(([name, { entry, tools }]) => {
      return { name, entry, tools: [...tools].map(([tool, approved]) => ({ tool, ...toKept(approved) })) };
    });
    return JSON.stringify({ version: 1, servers });
  }

  async #read(): Promise<void> {
    const text = await this.#parts.store?.read().catch(() => undefined);
    const value = text === undefined ? undefined : parseJson(text);
    for (const server of recordsOf(isRecord(value) ? value["servers"] : undefined)) {
      const { name, entry } = server;
      if (typeof name !== "string" || typeof entry !== "string") continue;
      const tools = recordsOf(server["tools"]).flatMap((each): [string, Approved][] => {
        const { tool, digest, definition, changed } = each;
        if (typeof tool !== "string" || typeof digest !== "string") return [];
        const approved = {
          digest,
          ...(isDefinition(definition) ? { definition } : {}),
          ...(typeof changed === "string" ? { changed } : {}),
        };
        return [[tool, approved]];
      });
      this.#servers.set(name, { entry, tools: new Map(tools) });
    }
  }
}

/** The tools in a kept text that had changed when they were seen last, with what was different, by their MCP server. */
export function changedToolsIn(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const value = parseJson(text);
  const servers = recordsOf(isRecord(value) ? value["servers"] : undefined);
  return new Map(servers.map(({ name, tools }) => [
    String(name),
    new Map(
      recordsOf(tools).flatMap(({ tool, changed }) => {
        return typeof tool === "string" && typeof changed === "string" ? [[tool, changed]] : [];
      }),
    ),
  ]));
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A file that was edited may hold anything; what else is wrong makes a change that is shown oddly. */
function isDefinition(value: unknown): value is ToolDefinition {
  return isRecord(value) && typeof value["description"] === "string";
}
