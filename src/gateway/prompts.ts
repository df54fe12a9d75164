/** The prompts of all Computers, and those of the gateway itself. */
import {
  type HandlerResultTypeMap,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { toWellFormed } from "../agent/toolkit/list_entries.ts";
import type { Json, McpContent } from "../local_tools/mcp.ts";
import type { OfficeView } from "../agent/toolkit/office_view.ts";
import { A2C_COMPUTER, mcpServerOf, type ToClientUri } from "../agent/toolkit/tool_definition.ts";
import { MAX_TOOL_NAME_LENGTH, type ToolAddress, ToolNames } from "../agent/toolkit/tool_names.ts";
import { toMcpContent } from "../agent/toolkit/tool_result.ts";
import type { RemoteComputer } from "../agent/remote_computer.ts";
import type { Logger } from "../log.ts";
import { UnsupportedRequestError } from "../protocol/errors.ts";
import type { PromptInfo } from "../protocol/prompts.ts";
import { escapeUnreadable, toSeenError, toSeenName } from "../text/safe_text.ts";
import { ComputerCache, toListEntries } from "./computer_cache.ts";
import { pageOf } from "./paging.ts";
import type { OfficeSkill, OfficeSkills } from "./skills/office_skills.ts";

const PAGE_SIZE = 500;
const MAX_PROMPTS = 5_000;
/** What stands for the MCP server of a skill in names, so that a prompt of the same name keeps its own. */
const SKILLS = "skills/";

export type McpPrompt = Json & { readonly name: string };

export interface Filling {
  readonly signal: AbortSignal;
  /** What the client calls itself. */
  readonly clientName: string | undefined;
}

export interface LocalPrompt {
  readonly definition: McpPrompt;
  /** @throws {ProtocolError} the arguments are wrong. */
  get(
    args: Readonly<Record<string, string>>,
    context: Filling,
  ): Promise<{ readonly role: "user"; readonly content: McpContent }[]>;
  complete(argument: string, value: string): Promise<readonly string[]>;
}

export interface PromptAddress {
  readonly computer: string;
  readonly mcpServer: string | undefined;
  readonly prompt: string;
  /** Whether it is a skill, which older clients get as a prompt. */
  readonly isSkill?: boolean;
}

export interface PromptParts {
  readonly skills: OfficeSkills;
  readonly view: OfficeView;
  readonly reserved: readonly string[];
  readonly toClientUri: ToClientUri;
  readonly onLate: (computer: string) => void;
  readonly logger: Logger;
}

interface OfficePrompt extends PromptAddress {
  readonly info: PromptInfo;
}

/** Lists prompts and fills them in. Names follow the rules of those of tools. */
export class OfficePrompts {
  readonly #parts: PromptParts;
  readonly #cache: ComputerCache<readonly OfficePrompt[]>;
  readonly #names: ToolNames;

  constructor(parts: PromptParts) {
    const { view, reserved, onLate, logger } = parts;
    this.#parts = parts;
    this.#names = new ToolNames({ reserved });
    const changes = ["prompts"] as const;
    const fetch = (remote: RemoteComputer) => fetchPrompts(remote, logger);
    this.#cache = new ComputerCache({ view, what: "prompts", fetch, changes, onLate, logger });
  }

  /** @param options `hasSkills`: whether skills are listed as prompts, too; `false` by default. */
  async list(
    computers: readonly string[],
    { hasSkills = false }: { readonly hasSkills?: boolean } = {},
  ): Promise<McpPrompt[]> {
    const [own, skills] = await Promise.all([
      this.#cache.get(computers),
      // The prompts of the gateway itself are listed, whoever refuses theirs.
      hasSkills ? this.#parts.skills.list(computers).catch(() => []) : [],
    ]);
    const prompts = [...own.flat(), ...skills.map(toSkillPrompt)];
    this.#names.assign(prompts.map(toNamed));
    return prompts.map((prompt) => this.#toMcpPrompt(prompt));
  }

  /**
   * Where the prompt of a Computer is; `undefined` when no Computer of these has it.
   *
   * @throws {ProtocolError} when none lists prompts, and one refuses to.
   */
  async find(name: string, computers: readonly string[]): Promise<PromptAddress | undefined> {
    if (this.#findKept(name) === undefined) await this.list(computers, { hasSkills: true });
    const known = this.#findKept(name);
    if (known === undefined) await this.#cache.insist(computers);
    return known !== undefined && computers.includes(known.computer) ? known : undefined;
  }

  async get(
    { computer, mcpServer, prompt, isSkill }: PromptAddress,
    args: Readonly<Record<string, string>>,
    { signal, clientName: client }: Filling,
  ): Promise<Json> {
    const { view, toClientUri, skills } = this.#parts;
    if (isSkill === true) {
      const text = await skills.text({ computer, name: prompt }, { signal, client });
      return {
        messages: [{ role: "user", content: { type: "text", text } }],
        _meta: { [A2C_COMPUTER]: computer },
      };
    }
    const remote = view.office?.computer(computer, { client });
    if (remote === undefined) {
      throw new TypeError(`Cannot get prompt ${toSeenName(prompt)}: the office cannot be reached now`);
    }
    const { description, messages, _meta } = await remote.getPrompt(prompt, args, { mcpServer, signal });
    const translate = (uri: string) => toClientUri(uri, { computer, mcpServer });
    return toWellFormed({
      ...(description === undefined ? {} : { description: escapeUnreadable(description) }),
      messages: messages.map(({ role, content }) => ({ role, content: toMcpContent(content, translate) })),
      _meta: { ..._meta, [A2C_COMPUTER]: computer },
    });
  }

  #toMcpPrompt(prompt: OfficePrompt): McpPrompt {
    const { info, computer } = prompt;
    const name = this.#names.nameOf(toNamed(prompt)) ?? info.name;
    return { ...info, name, _meta: { ...info._meta, [A2C_COMPUTER]: computer } };
  }

  #findKept(name: string): PromptAddress | undefined {
    const prompts = [...this.#cache.kept.flat(), ...this.#parts.skills.kept.map(toSkillPrompt)];
    return prompts.find((prompt) => this.#names.nameOf(toNamed(prompt)) === name);
  }
}

/** A skill as a prompt without arguments, whose message is the text of the skill. */
function toSkillPrompt({ computer, name, frontmatter: { description } }: OfficeSkill): OfficePrompt {
  const info = { name, description };
  return { computer, mcpServer: SKILLS, prompt: name, isSkill: true, info };
}

function toNamed({ computer, mcpServer, prompt }: PromptAddress): ToolAddress {
  return { computer, tool: prompt, mcpServer };
}

async function fetchPrompts(remote: RemoteComputer, logger: Logger): Promise<OfficePrompt[]> {
  try {
    const { prompts } = await remote.getPrompts();
    const about = { computer: remote.name, logger };
    const all = toListEntries("prompt", prompts.slice(0, MAX_PROMPTS), about).map((info) => {
      return { computer: remote.name, mcpServer: mcpServerOf(info._meta), prompt: info.name, info };
    });
    // Names are remembered.
    return all.filter(({ prompt, mcpServer = "" }) =>
      prompt.length <= MAX_TOOL_NAME_LENGTH && mcpServer.length <= MAX_TOOL_NAME_LENGTH
    );
  } catch (error) {
    if (error instanceof UnsupportedRequestError) return [];
    throw error;
  }
}

export interface PromptHandlerParts {
  /** The client's name, as Computers are told it. */
  readonly clientName: () => string | undefined;
  readonly prompts: OfficePrompts;
  /** Whether the client speaks MCP of 2025, and so gets skills as prompts. */
  readonly isLegacy: boolean;
  readonly localPrompts: ReadonlyMap<string, LocalPrompt>;
  readonly computers: () => readonly string[];
  readonly ready: () => Promise<void>;
}

export function servePrompts(
  server: Server,
  { clientName, prompts, localPrompts, computers, ready, isLegacy }: PromptHandlerParts,
): void {
  server.setRequestHandler("prompts/list", async ({ params }) => {
    await ready();
    const own = [...localPrompts.values()].map(({ definition }) => definition);
    const all = [...own, ...await prompts.list(computers(), { hasSkills: isLegacy })];
    const { page, next } = pageOf(all, {
      size: PAGE_SIZE,
      cursor: params?.cursor,
      keyOf: ({ name }) => name,
    });
    return { prompts: page, ...next } as HandlerResultTypeMap["prompts/list"];
  });
  server.setRequestHandler("prompts/get", async ({ params }, { mcpReq: { signal } }) => {
    await ready();
    const { name, arguments: args = {} } = params;
    const filling = { signal, clientName: clientName() };
    const local = localPrompts.get(name);
    if (local !== undefined) {
      return { messages: await local.get(args, filling) } as HandlerResultTypeMap["prompts/get"];
    }
    const address = await prompts.find(name, computers());
    if (address === undefined) throw unknownPrompt(name);
    try {
      return await prompts.get(address, args, filling) as HandlerResultTypeMap["prompts/get"];
    } catch (error) {
      signal.throwIfAborted();
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Cannot get prompt ${toSeenName(name)} of Computer ${toSeenName(address.computer)}: ` +
          toSeenError(error),
      );
    }
  });
}

export function unknownPrompt(name: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `No prompt named ${toSeenName(name)}: list the prompts`,
  );
}
