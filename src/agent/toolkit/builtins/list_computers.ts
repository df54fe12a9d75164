/** `list_computers`: who is in the office, and what each has. */
import { countOf, shorten } from "../../../text/text.ts";
import { toSeenLine, toSeenName, toSeenWord } from "../../../text/safe_text.ts";
import type { McpServerInfo } from "../../../protocol/mcp_servers.ts";
import { sleepText } from "../../../protocol/presence.ts";
import type { LocalTool } from "../tool_context.ts";
import {
  askableComputers,
  askEach,
  makeBuiltin,
  nobodyThere,
  type Reach,
  reachedComputers,
  reaches,
} from "./builtin.ts";

/** How long a Computer has to tell of its MCP servers, in milliseconds. */
const ASK_MS = 5_000;
const MAX_INSTRUCTIONS = 500;

interface ListedServer {
  readonly name: string;
  readonly status: string;
  readonly title?: string;
  readonly instructions?: string;
}

interface ListedComputer {
  readonly name: string;
  /** Its office, where there are several. */
  readonly office?: string;
  readonly tools: number;
  readonly stale: boolean;
  readonly problem?: string;
  /** Whether a call would work now; absent where the Server does not tell. */
  readonly awake?: boolean;
  /** Whether its owner has paused it: calls and reads are refused. */
  readonly paused?: boolean;
  readonly asleep_since?: string;
  readonly mcp_servers?: readonly ListedServer[];
}

export function listComputers(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "list_computers",
    title: "List Computers",
    description:
      "Lists the Computers that can be used now, and those that sleep, the MCP servers of each with their status and " +
      "instructions, and how many tools each has. Call it first, and when a tool or a Computer is not found.",
    properties: {},
    outputSchema: {
      type: "object",
      properties: {
        office: { type: "string" },
        problem: { type: "string", description: "Why the office cannot be reached." },
        offices: {
          type: "array",
          items: { type: "object" },
          description: "The offices, where there are several.",
        },
        computers: { type: "array", items: { type: "object" } },
      },
      required: ["computers"],
    },
    async run(_args, { signal }) {
      const { office, problem } = reach.view;
      const computers = await describeAll(reach, signal);
      const value = {
        ...(office?.office === undefined ? {} : { office: office.office }),
        ...(problem === undefined ? {} : { problem }),
        ...(office?.offices === undefined ? {} : { offices: office.offices }),
        computers,
      };
      const head = problem === undefined
        ? reach.view.officeProblems.map((lost) => `Cannot be reached now: ${lost}.`)
        : [`The office cannot be reached now: ${problem}.`];
      // Nobody knows who is in an office that cannot be reached.
      const nobody = computers.length === 0 && problem === undefined ? [`${nobodyThere(reach)}.`] : [];
      const lines = [...nobody, ...computers.flatMap(toLines)];
      return { content: [{ type: "text", text: [...head, ...lines].join("\n") }], structuredContent: value };
    },
  });
}

async function describeAll(reach: Reach, signal: AbortSignal): Promise<ListedComputer[]> {
  const { view } = reach;
  const names = reachedComputers(reach);
  const known = new Map(view.computers.map((computer) => [computer.name, computer]));
  const [presence, answers] = await Promise.all([
    presenceIn(reach, signal),
    askEach(askableComputers(reach), (remote) => remote.getMcpServers({ signal, timeoutMs: ASK_MS })),
  ]);
  const servers = new Map(answers.map((answer) => [answer.computer, answer]));
  const asleep = [...presence.keys()].filter((name) => !names.includes(name) && reaches(reach, name));
  return [...names, ...asleep].map((name) => {
    const { tools = [], problem } = known.get(name) ?? {};
    const answer = servers.get(name);
    const office = view.office?.officeOf?.(name);
    return {
      name,
      ...(office === undefined ? {} : { office }),
      tools: tools.length,
      stale: !view.isConnected || problem !== undefined,
      ...(problem === undefined ? {} : { problem }),
      ...presence.get(name),
      ...(answer !== undefined && "value" in answer ? toServers(answer.value) : {}),
    };
  });
}

/** Whether each Computer is awake, as far as the Server tells. */
async function presenceIn({ view: { office, isConnected } }: Reach, signal: AbortSignal) {
  const told = isConnected ? await office?.listPresence?.({ signal }).catch(() => undefined) : undefined;
  const known = (told ?? []).filter(({ last_read }) => last_read !== undefined);
  return new Map(
    known.map(({ computer, asleep_since }) => [
      computer,
      asleep_since === undefined ? { awake: true } : { awake: false, asleep_since },
    ]),
  );
}

function toServers(servers: readonly McpServerInfo[]): Pick<ListedComputer, "paused" | "mcp_servers"> {
  const paused = servers.some((server) => server.paused === true);
  return { ...(paused ? { paused } : {}), mcp_servers: servers.map(toServer) };
}

function toServer({ mcp_server, status, server_info, instructions }: McpServerInfo): ListedServer {
  const title = server_info?.title ?? server_info?.name;
  return {
    name: mcp_server,
    status,
    ...(title === undefined ? {} : { title }),
    ...(instructions === undefined ? {} : { instructions: shorten(instructions, MAX_INSTRUCTIONS) }),
  };
}

function toLines({ name, office, tools, ...listed }: ListedComputer): string[] {
  const { stale, problem, asleep_since: since, mcp_servers = [], paused = false } = listed;
  const seen = problem === undefined ? (stale ? ", as last seen" : "") : `, as last seen: ${problem}`;
  const pause = paused ? ", paused by its owner: calls and reads are refused until the owner resumes it" : "";
  const state = since === undefined ? seen : `, ${sleepText(since)}: calls fail until it wakes`;
  const where = office === undefined ? "" : ` of office ${toSeenName(office)}`;
  return [
    `Computer ${toSeenName(name)}${where}: ${countOf(tools, "tool")}${state}${pause}`,
    ...mcp_servers.map((server) => {
      const about = server.title === undefined || server.title === server.name
        ? ""
        : ` (${toSeenWord(server.title)})`;
      const how = server.instructions === undefined ? "" : `: ${toSeenLine(server.instructions)}`;
      return `  - ${toSeenWord(server.name)}${about}, ${toSeenWord(server.status)}${how}`;
    }),
  ];
}
