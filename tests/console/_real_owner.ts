/** The owner's page beside a Computer that runs, with an Agent in its office. */
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../src/server/server.ts";
import type { RunningDoor } from "../fixtures/door.ts";
import type { Chromium } from "../fixtures/chromium.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { ConsolePage, openLink } from "./_console_page.ts";

const RUN = ["run", "-A", "--no-check", "--no-lock", "--quiet"];

/** A program of the repository as an MCP server. */
export function programServer(path: string, args: readonly string[] = [], isAsking = false) {
  const file = fromFileUrl(new URL(`../../${path}`, import.meta.url));
  return {
    type: "stdio",
    default_tool_meta: isAsking ? {} : { auto_apply: true },
    server_parameters: { command: Deno.execPath(), args: [...RUN, file, ...args] },
  };
}

/** An MCP server with a tool `run` that asks before each call. */
export const SHELL = scripted(
  { tools: [{ name: "run", description: "Runs it", inputSchema: { type: "object" } }] },
  { default_tool_meta: {} },
);

const LINK = /http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}/;

export class RealOwner extends ConsolePage {
  readonly place: Workplace;
  readonly computer: RunningDoor;
  readonly agent: Agent;
  readonly link: string;
  readonly #all: AsyncDisposableStack;

  private constructor(
    browser: Chromium,
    { place, computer, agent, link, all }: {
      readonly place: Workplace;
      readonly computer: RunningDoor;
      readonly agent: Agent;
      readonly link: string;
      readonly all: AsyncDisposableStack;
    },
  ) {
    super(browser);
    this.place = place;
    this.computer = computer;
    this.agent = agent;
    this.link = link;
    this.#all = all;
  }

  static async open(config: Readonly<Record<string, unknown>>): Promise<RealOwner> {
    await using stack = new AsyncDisposableStack();
    const place = stack.use(new Workplace());
    const server = stack.use(await SmcpServer.listen({ port: 0 }));
    const file = place.write("mcp.json", config);
    const words = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", file, "--console"];
    const computer = stack.use(await place.serve([...words, "--start-timeout", "60"]));
    const agent = stack.use(await Agent.connect({ url: server.url, office: "lab", name: "ada" }));
    const [link = ""] = LINK.exec(computer.stdout.text) ?? [];
    const browser = stack.use(await openLink(link));
    return new RealOwner(browser, { place, computer, agent, link, all: stack.move() });
  }

  /** A call of the Agent. */
  call(tool: string, params: Record<string, unknown> = {}): Promise<CallToolResult> {
    return this.agent.computer("laptop").callTool(tool, params);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#all.disposeAsync();
  }
}
