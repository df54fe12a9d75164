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
import { type Answer, showAnswer } from "../answers/answer.ts";
import { addRequestCommands } from "../answers/commands.ts";
import { printError } from "../outcome.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { type Progress, showProgress } from "../../terminal/progress.ts";
import type { Logger } from "../../log.ts";
import { plainTextWarning } from "../../protocol/server_address.ts";
import type { Agent } from "../../agent/agent.ts";
import { chooseComputer, type CommandContext, listOffice, showConfig, watch } from "./commands.ts";

/** How long a command that ends by itself tries to reach the Server, in seconds. */
const CONNECT_TIMEOUT_SECONDS = 10;

/** What stands before the command. */
interface GlobalOptions extends LogOptions, ConnectionOptions {
  readonly json: boolean;
  readonly computer?: string;
  readonly connectTimeout?: number;
}

/** A command; `undefined` when it has printed everything itself. */
type Work = (context: CommandContext) => Promise<Answer | undefined>;

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
  program.command("office").description("list the members of the office").action(() => run(listOffice));
  addRequestCommands(program, ({ name, work }) =>
    run(async (context) => {
      const { signal, progress } = context;
      return await work({ computer: await chooseComputer(context), signal, progress });
    }, { observer: name !== "call" }));
  program.command("config").description("show the Computer's MCP servers").action(() => run(showConfig));
  program.command("watch").description("print what happens in the office, until Ctrl-C")
    .action(() => run(watch, { connectSeconds: Infinity }));
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

async function withAgent(
  options: GlobalOptions,
  task: Required<Way> & { readonly work: Work; readonly signal: AbortSignal },
): Promise<void> {
  const { work, signal } = task;
  const logger = loggerOf("agent", options);
  const { json, computer } = options;
  await using agent = await connect(options, { ...task, logger });
  const answer = await withProgress((progress) => work({ agent, signal, logger, json, computer, progress }));
  if (answer !== undefined) {
    showAnswer(answer, { print: console.log, printError }, { json, screen: currentScreen() });
  }
}

/** Shows at a terminal what a command waits for, and nothing of it once the answer is there. */
async function withProgress<T>(work: (progress: (text: string) => void) => Promise<T>): Promise<T> {
  let shown: Progress | undefined;
  try {
    return await work((text) => (shown ??= showProgress("")).update(text));
  } finally {
    shown?.[Symbol.dispose]();
  }
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
  // Loaded only now, so that --help and a wrong command line are fast.
  const { Agent } = await import("../../agent/agent.ts");
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
