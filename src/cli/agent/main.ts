/** The Agent's command line: `agent.ts --url URL --office OFFICE --name NAME [--json] COMMAND …`. */
import {
  authOf,
  type ConnectionOptions,
  connectionOptions,
  loggerOf,
  type LogOptions,
  parseSeconds,
  requireOptions,
} from "../options.ts";
import { type Command, Option } from "commander";
import { commandLineOf, createProgram, helpPart, runProgram } from "../program.ts";
import {
  addAll,
  assertReadable,
  type CallFlags,
  type DesktopFlags,
  desktopOptions,
  type FinderFlags,
  finderOptions,
  paramsOption,
  timeoutOption,
} from "../request_options.ts";
import { type TypedArguments, typedArguments } from "../answers/arguments.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { showProgress } from "../../terminal/progress.ts";
import type { Logger } from "../../log.ts";
import { plainTextWarning } from "../../protocol/server_address.ts";
import { Agent } from "../../agent/agent.ts";
import { TREE_DEPTHS, type TreeDepth } from "../answers/document_tree.ts";
import {
  callTool,
  type CommandContext,
  listOffice,
  listTools,
  readResource,
  showConfig,
  showDesktop,
  showFinder,
  watch,
} from "./commands.ts";

/** How long a command that ends by itself tries to reach the Server, in seconds. */
const CONNECT_TIMEOUT_SECONDS = 10;

/** What stands before the command. */
interface GlobalOptions extends LogOptions, ConnectionOptions {
  readonly json: boolean;
  readonly computer?: string;
  readonly connectTimeout?: number;
}

type Work = (context: CommandContext) => Promise<void>;

/** Runs the Agent's command line with these arguments and gives its exit code. */
export function runAgentCli(args: readonly string[]): Promise<number> {
  return runProgram(args, createAgentProgram);
}

/** Declares the Agent's commands; `signal` ends what they do. */
export function createAgentProgram(signal: AbortSignal): Command {
  const program = createProgram("agent", "Uses the Computers of an A2C-SMCP office from the command line.", {
    defaultLogLevel: "error, info for watch",
  });
  for (const option of connectionOptions("agent")) program.addOption(option);
  program
    .addHelpText("after", examples(commandLineOf("agent")))
    .addOption(
      new Option("--computer <name>", "which Computer; may be left out when the office has one")
        .env("A2C_COMPUTER"),
    )
    .addOption(
      new Option(
        "--connect-timeout <seconds>",
        "how long to try to reach the Server (default: 10; watch tries for ever)",
      )
        .argParser(parseSeconds).env("A2C_CONNECT_TIMEOUT"),
    )
    .option("--json", "print one JSON document; watch prints one JSON line per event", false);

  const run = async (work: Work, how: Way = {}) => {
    const { connectSeconds = CONNECT_TIMEOUT_SECONDS, observer = true } = how;
    requireOptions(program.opts(), ["url", "office", "name"]);
    await withAgent(optionsFor(program, connectSeconds), { work, connectSeconds, observer, signal });
  };
  for (const add of [addOfficeCommands, addToolCommands, addContextCommands, addFinderCommand]) {
    add(program, run);
  }
  return program;
}

function examples(agent: string): string {
  return helpPart(
    "Examples, with A2C_URL, A2C_OFFICE and A2C_NAME set, or --url, --office and --name given:",
    `  ${agent} office
  ${agent} tools
  ${agent} call echo message=hi
  ${agent} call write --params @arguments.json --timeout 2m
  ${agent} read dpe://HOST/DOCUMENT --json
  ${agent} watch --computer laptop`,
  );
}

/** A command that ends by itself ends with its error: warnings of what became of it would only say the same. */
function optionsFor(program: Command, connectSeconds: number): GlobalOptions {
  const options = program.opts<GlobalOptions>();
  const isTold = program.getOptionValueSource("logLevel") !== "default" || connectSeconds === Infinity;
  return isTold ? options : { ...options, logLevel: { level: "error", modules: {} } };
}

/** How a command connects. */
interface Way {
  /** How long it tries; 10 by default. */
  readonly connectSeconds?: number;
  /** Whether it leaves the Agent's seat to others; `true` by default, since most commands only read. */
  readonly observer?: boolean;
}

type Run = (work: Work, how?: Way) => Promise<void>;

function addOfficeCommands(program: Command, run: Run): void {
  program.command("office").description("list who is in the office").action(() => run(listOffice));
  program.command("watch").description("print what happens in the office, until Ctrl-C")
    .action(() => run(watch, { connectSeconds: Infinity }));
}

function addToolCommands(program: Command, run: Run): void {
  program.command("tools").argument("[tool]", "only this one, with all that there is to know")
    .description("list the Computer's tools")
    .action((tool: string | undefined) => run((context) => listTools(context, { tool })));
  program.command("call <tool>").description("call a tool; exit code 1 when its result is an error")
    .addArgument(typedArguments()).addOption(paramsOption()).addOption(timeoutOption())
    .action((tool: string, typed: TypedArguments, { params, timeout }: CallFlags) => {
      const call = { tool, typed, params, timeoutMs: timeout * 1000 };
      return run((context) => callTool(context, call), { observer: false });
    });
}

function addContextCommands(program: Command, run: Run): void {
  program.command("config").description("show the Computer's MCP servers").action(() => run(showConfig));
  addAll(program.command("desktop").description("show the Computer's windows"), desktopOptions())
    .action((options: DesktopFlags) => run((context) => showDesktop(context, options)));
  program.command("read <uri>").description("read a dpe:// or window:// resource")
    .option("--mcp-server <name>", "from this MCP server; allows any scheme")
    .action((uri: string, options: { mcpServer?: string }) => {
      assertReadable(uri, options);
      return run((context) => readResource(context, { uri, ...options }));
    });
}

function addFinderCommand(program: Command, run: Run): void {
  addAll(program.command("finder").description("list the Computer's documents"), finderOptions())
    .addOption(
      new Option("--depth <depth>", "read what is below the documents, too: the first 100 pages of each")
        .choices(TREE_DEPTHS).default("documents"),
    )
    .action((options: FinderFlags & { readonly depth: TreeDepth }) => {
      const { keyword: keywords, ...rest } = options;
      return run((context) => showFinder(context, { keywords, ...rest }));
    });
}

async function withAgent(
  options: GlobalOptions,
  task: Required<Way> & { readonly work: Work; readonly signal: AbortSignal },
): Promise<void> {
  const { work, signal } = task;
  const logger = loggerOf("agent", options);
  const { json, computer } = options;
  await using agent = await connect(options, { ...task, logger });
  await work({ agent, signal, logger, json, screen: currentScreen(), computer });
}

/** Shows at a terminal what is being waited for. */
async function connect(
  options: GlobalOptions,
  task: Required<Way> & { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<Agent> {
  const { url, office, name, header: headers, path } = options;
  const { signal, logger, observer } = task;
  const auth = authOf(options);
  const warning = plainTextWarning(url, { auth, headers });
  // The log of a command that ends by itself leaves warnings out.
  if (warning !== undefined && options.logLevel.level === "error") console.error(`warning: ${warning}`);
  const connectMs = (options.connectTimeout ?? task.connectSeconds) * 1000;
  using progress = showProgress("connecting");
  progress.update(url);
  return await Agent.connect({
    url,
    office,
    name,
    auth,
    headers,
    path,
    observer,
    timeoutMs: connectMs,
    logger,
    signal,
  });
}
