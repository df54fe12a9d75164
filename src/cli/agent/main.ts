/** The Agent's command line: `agent.ts --url URL --office OFFICE --name NAME [--json] COMMAND …`. */
import { addConnectionOptions, type AgentConnectionOptions, readCredentials } from "../credentials.ts";
import { collect, loggerOf, type LogOptions, parseSeconds, requireOptions } from "../options.ts";
import { type Command, Option } from "commander";
import { addCommandHelp, commandLineOf, createProgram, helpPart, runProgram } from "../program.ts";
import { type CommandAnswer, noteText, showAnswer } from "../answers/answer.ts";
import { addRequestCommands, agentAnswerOptions } from "../answers/commands.ts";
import { printError, UsageError } from "../outcome.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { type Progress, showProgress } from "../../terminal/progress.ts";
import type { Logger } from "../../log.ts";
import { newPlainTextWarning } from "../../link/credentials.ts";
import type { Agent } from "../../agent/agent.ts";
import { longNames } from "../../agent/group/computer_names.ts";
import type { OfficeGroup } from "../../agent/group/office_group.ts";
import {
  chooseComputer,
  type CommandContext,
  listComputers,
  listOffice,
  listSkills,
  readSkill,
  showConfig,
  uploadFile,
  watch,
} from "./commands.ts";
import { LocalSeats } from "./seat/local_seats.ts";
import { addMcpCommand } from "./mcp/declaration.ts";
import type { AgentQuestion } from "../../agent/questions.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import type { CallAsked } from "../answers/requests.ts";
import { toSeenName } from "../../text/safe_text.ts";
import { LazyEditor } from "../../terminal/editor/lazy_editor.ts";
import type { CallPerson } from "../questions/call_answers.ts";

/** How long a command other than `watch` tries to reach the Server, in seconds; `mcp` says then why, and tries again. */
const CONNECT_TIMEOUT_SECONDS = 10;

/** How long a command waits for the office's one Agent seat, in seconds: other commands hold it for a moment each. */
const PATIENCE_SECONDS = 15;
const SERVING_OTHERS = "done; other commands still use this connection, and lose it with Ctrl-C";
/** The first wait for a lost connection, in milliseconds: the next holder of a shared seat is on this machine. */
const SEAT_RECONNECT_DELAY_MS = 250;
/** The commands that need the seat; the others join as observers. */
const SEATED: readonly string[] = ["call", "prompt", "skills", "skill", "upload"];
/** The command that goes on until it is ended, also while the Server cannot be reached. */
const WATCH = "watch";

interface GlobalOptions extends LogOptions, AgentConnectionOptions {
  readonly json: boolean;
  readonly computer?: readonly string[];
  readonly connectTimeout?: number;
}

/** Runs a command; returns `undefined` if the command has printed everything itself. */
type Work = (context: CommandContext) => Promise<CommandAnswer | undefined>;

/** Runs the Agent's command line and returns its exit code. */
export function runAgentCli(args: readonly string[]): Promise<number> {
  return runProgram(args, createAgentProgram);
}

/**
 * Declares the Agent's commands.
 *
 * @param signal Ends the command that runs.
 */
export function createAgentProgram(signal: AbortSignal): Command {
  const purpose = "Use the tools, windows and documents of the Computers of an office.";
  const program = createProgram("agent", purpose, { defaultLogLevel: "error, info for watch" });
  addConnectionOptions(program, "agent");
  program
    .addHelpText("after", examples(commandLineOf("agent")))
    .addOption(
      new Option("--computer <name>", "the Computer to use; required if the office has several")
        .env("A2C_COMPUTER").argParser(collect),
    )
    .addOption(
      new Option(
        "--connect-timeout <seconds>",
        "how long to try to reach the Server (default: 10; watch has no limit)",
      )
        .argParser(parseSeconds).env("A2C_CONNECT_TIMEOUT"),
    )
    .option("--json", "print JSON: one document, with watch one line for each event", false);

  const run = (name: string, work: Work) => withAgent(program, { name, work, signal });
  program.command("office").description("list the members of the office")
    .action(() => run("office", listOffice));
  addRequestCommands(program, ({ name, work, awaits }) =>
    run(name, async (context) => {
      const { signal, progress } = context;
      const isOfAll = name === "servers" && (context.computer ?? awaits?.server) === undefined;
      if (isOfAll) return await listComputers(context);
      const computer = await chooseComputer(context);
      const callTool = callsOf(computer);
      return await work({ computer, callTool, signal, progress, person: personAtTerminal(context) });
    }));
  program.command("config").description("show the MCP servers and inputs of the Computer")
    .action(() => run("config", showConfig));
  program.command("skills").description("list the skills of the Computer")
    .action(() => run("skills", listSkills));
  program.command("skill <name> [path]")
    .description(
      "read a file of a skill, its SKILL.md by default; a file or a pipe gets its bytes unchanged",
    )
    .action((name: string, path: string | undefined) =>
      run("skill", (context) => readSkill(context, { name, path }))
    );
  program.command("upload <computer> <file>")
    .description(
      "send a file (- for standard input) to a Computer that takes uploads, and print its path there",
    )
    .action((computer: string, file: string) =>
      run("upload", (context) => uploadFile({ ...context, computer }, file))
    );
  for (const name of SEATED) {
    commandOf(program, name)?.addOption(
      new Option(
        "--patience <seconds>",
        "how long to wait while another Agent has the office's one seat (default: 15)",
      ).argParser(parseSeconds),
    );
  }
  for (const option of agentAnswerOptions()) commandOf(program, "call")?.addOption(option);
  const global = () => globalOptions(program);
  addMcpCommand(program, {
    connection: global,
    async serve(options) {
      const { serveMcp } = await import("./mcp/command.ts");
      const connection = global();
      const logger = loggerOf("agent", connection);
      await using seats = new LocalSeats({ mayHold: true, logger });
      const way = {
        connectSeconds: CONNECT_TIMEOUT_SECONDS,
        observer: false,
        patienceSeconds: 0,
        // The user of a client has no log, and cannot start the gateway again: it goes on, and says why.
        returnPatienceMs: options.http === undefined ? Infinity : undefined,
        logger,
        seats,
      };
      const { computer: computers, offices } = connection;
      const connectTo = (office: string, ending: AbortSignal) =>
        connect({ ...connection, office }, { ...way, signal: ending });
      const settle = () => seats.settle(signal);
      await serveMcp(options, {
        computers,
        offices,
        credentials: connection,
        logger,
        signal,
        connect: connectTo,
        settle,
      });
    },
  });
  program.command("instructions")
    .description("print how a coding agent uses an office by this program, as a SKILL.md")
    .action(async () => {
      const { instructionsText } = await import("./instructions.ts");
      console.log(instructionsText(commandLineOf("agent")).trimEnd());
    });
  program.command(WATCH).description("print the events of the office until Ctrl-C")
    .action(async () => {
      try {
        await run(WATCH, watch);
      } catch (error) {
        // Ctrl-C is the normal end, also while the Server cannot be reached.
        if (!signal.aborted) throw error;
      }
    });
  addCommandHelp(program, "agent");
  return program;
}

function examples(agent: string): string {
  return helpPart(
    "Examples (set A2C_URL, A2C_OFFICE and A2C_NAME, or add --url, --office and --name):",
    `  ${agent} office
  ${agent} tools
  ${agent} call echo message=hi
  ${agent} call write --params @arguments.json --timeout 2m
  ${agent} read dpe://HOST/DOCUMENT --json
  ${agent} upload laptop picture.png
  ${agent} watch --computer laptop`,
  );
}

function globalOptions(program: Command): GlobalOptions {
  requireOptions(program.opts(), ["url", "office", "name"]);
  const { office: given, ...rest } = program.opts<
    Omit<GlobalOptions, "office" | "offices"> & { readonly office: readonly string[] }
  >();
  const offices = [...new Set(given)];
  const [office = ""] = offices;
  return { ...rest, office, offices };
}

/** A command other than `watch` logs errors only: its failure is its error message. */
function optionsFor(program: Command, name: string): GlobalOptions {
  const options = globalOptions(program);
  const isChosen = program.getOptionValueSource("logLevel") !== "default" || name === WATCH;
  return isChosen ? options : { ...options, logLevel: { level: "error", modules: {} } };
}

interface Joining {
  readonly connectSeconds: number;
  readonly observer: boolean;
  readonly patienceSeconds: number;
  readonly returnPatienceMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The seats that the programs of this user share. */
  readonly seats: LocalSeats;
}

async function withAgent(
  program: Command,
  { name, work, signal }: {
    readonly name: string;
    readonly work: Work;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const options = optionsFor(program, name);
  const { patience: patienceSeconds = PATIENCE_SECONDS } =
    commandOf(program, name)?.opts<{ readonly patience?: number }>() ?? {};
  const connectSeconds = name === WATCH ? Infinity : CONNECT_TIMEOUT_SECONDS;
  const logger = loggerOf("agent", options);
  const { json, computer: computers } = options;
  const computer = computers?.at(-1);
  const observer = !SEATED.includes(name);
  await using stack = new AsyncDisposableStack();
  const seats = stack.use(new LocalSeats({ mayHold: !observer, logger }));
  const joining = { connectSeconds, observer, patienceSeconds, signal, logger, seats };
  if (options.offices.length > 1) refuseSeveral(name);
  const agent = stack.use(
    options.offices.length > 1 ? await connectAll(options, joining) : await connect(options, joining),
  );
  stack.defer(() =>
    withProgress((progress) => seats.settle(signal, { onWait: () => progress(SERVING_OTHERS) }))
  );
  const answer = await withProgress((progress) => work({ agent, signal, logger, json, computer, progress }));
  if (answer !== undefined) {
    showAnswer(answer, { print: console.log, printError }, { json, screen: currentScreen() });
  }
}

/** The events of several offices would need names of offices that they do not have. */
function refuseSeveral(name: string): void {
  if (name !== WATCH) return;
  throw new UsageError(
    "Cannot watch several offices at once: give --office once, and run one command for each",
  );
}

/** Joins all offices, and says which could not be joined; fails when none could. Each has the time of a command of its own. */
async function connectAll(options: GlobalOptions, joining: Joining): Promise<OfficeGroup> {
  const [{ joinGroup }, { startJoin }] = await Promise.all([
    import("../../agent/group/office_group.ts"),
    import("../../agent/group/office_join.ts"),
  ]);
  const { name, offices } = options;
  const { logger, signal } = joining;
  const joins = offices.map((office) =>
    startJoin((ending) => connect({ ...options, office }, { ...joining, signal: ending }), {
      label: office,
      signal,
      logger,
      explain: () => Promise.resolve(undefined),
    })
  );
  const names = longNames(options.computer, offices);
  const group = await joinGroup(joins, { name, names, patienceMs: Infinity, logger, signal });
  for (const { office, problem } of group.offices) {
    if (problem !== undefined) printError(`warning: Cannot use office ${toSeenName(office)}: ${problem}`);
  }
  return group;
}

function commandOf(program: Command, name: string): Command | undefined {
  return program.commands.find((command) => command.name() === name);
}

/** Shows on a terminal what the command waits for, until it is done. */
async function withProgress<T>(work: (progress: (text: string) => void) => Promise<T>): Promise<T> {
  let shown: Progress | undefined;
  try {
    return await work((text) => (shown ??= showProgress("")).update(text));
  } finally {
    shown?.[Symbol.dispose]();
  }
}

async function connect(
  options: GlobalOptions,
  { connectSeconds, observer, patienceSeconds, returnPatienceMs, signal, logger, seats }: Joining,
): Promise<Agent> {
  const { url, office, name, path, protocol: protocolVersion } = options;
  const sent = await readCredentials(options);
  // At the level `error` the log does not show this warning.
  const warning = options.logLevel.level === "error" ? newPlainTextWarning(url, sent) : undefined;
  if (warning !== undefined) console.error(`warning: ${warning}`);
  const connectMs = (options.connectTimeout ?? connectSeconds) * 1000;
  using progress = showProgress("connecting");
  progress.update(url);
  // Loaded only now, so that --help and a wrong command line are fast.
  const { Agent } = await import("../../agent/agent.ts");
  const seat = await seats.of(options);
  const place = {
    url,
    office,
    name,
    ...sent,
    path,
    protocolVersion,
    observer,
    timeoutMs: connectMs,
    seatPatienceMs: patienceSeconds * 1000,
    joinPatienceMs: returnPatienceMs,
    reconnectDelayMs: seat === undefined ? undefined : SEAT_RECONNECT_DELAY_MS,
    logger,
    signal,
  };
  return await Agent.connectBy(place, { open: seat?.open, isShared: seat !== undefined });
}

/** The person at the terminal. A program that reads JSON, and a pipe, are not asked. */
function personAtTerminal({ json }: { readonly json: boolean }): CallPerson {
  const isHere = !json && Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
  return {
    isHere,
    // A terminal shows the progress of the call.
    tell: (note) => Deno.stderr.isTerminal() || printError(noteText(note, { json })),
    ask: async (question, options) => {
      if (!isHere) return undefined;
      // Loaded only now, because few calls are asked anything.
      const { askBy } = await import("../questions/terminal_answers.ts");
      return await askBy(new LazyEditor().use)(question, options);
    },
  };
}

/** Calls as the user of this terminal, who is asked the questions of the call. */
function callsOf(computer: RemoteComputer): CallAsked {
  return (tool, params, { answer, ...options }) => {
    const onQuestion = answer && ((question: AgentQuestion) => {
      const { computer, mcpServer: server, tool } = question;
      return answer({ ...question, asker: { computer, server, tool, caller: "user" } });
    });
    return computer.callTool(tool, params, { ...options, onQuestion });
  };
}
