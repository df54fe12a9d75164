/** The commands that the Agent's and the Computer's command lines share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from "../../protocol/call.ts";
import { collect, collectPair, parseSeconds, wholeNumber } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { CallParams, toTexts, toWords, type TypedArguments, typedArguments } from "./arguments.ts";
import type { RunRequest } from "./requests.ts";
import type { TreeDepth } from "./document_tree.ts";
import type { AnswerOptions } from "../questions/call_answers.ts";

const TREE_DEPTHS = ["documents", "pages", "elements"] as const satisfies readonly TreeDepth[];

export function addRequestCommands(program: Command, run: RunRequest): void {
  for (const add of [addTools, addCall, addDesktop, addFinder, addRead]) add(program, run);
  addMcpCommands(program, run);
}

// Loaded when a command runs, so that a command for another process starts fast.
const requests = () => import("./requests.ts");
const mcpRequests = () => import("./mcp_requests.ts");

function addTools(program: Command, run: RunRequest): void {
  program.command("tools").description("list the tools of the Computer")
    .argument("[tool]", "show only this tool, with its full description and schema")
    .action((tool: string | undefined) =>
      run({
        name: "tools",
        awaits: { tool },
        work: async (context) => (await requests()).listTools(context, { tool }),
      })
    );
}

interface CallFlags extends AnswerFlags {
  readonly params: CallParams;
  readonly timeout: number;
  readonly maxTimeout?: number;
}

function addCall(program: Command, run: RunRequest): void {
  const command = program.command("call <tool>").description(
    "call a tool; the exit code is 1 if the tool fails",
  )
    .addArgument(typedArguments())
    .addOption(
      new Option("--params <json>", "the arguments as a JSON object, @FILE, or - for standard input")
        .argParser((written) => new CallParams(written)).default(new CallParams("{}"), "{}"),
    )
    .addOption(
      new Option("--timeout <seconds>", "how long the call may take").argParser(parseCallSeconds)
        .default(DEFAULT_TIMEOUT_SECONDS),
    )
    .addOption(
      new Option(
        "--max-timeout <seconds>",
        "let each progress of the tool restart --timeout, and end the call after this time",
      ).argParser(parseCallSeconds),
    )
    .action((tool: string, typed: TypedArguments, flags: CallFlags) => {
      const { params, timeout, maxTimeout } = flags;
      const times = { timeoutMs: timeout * 1000, maxTimeoutMs: maxTimeout && maxTimeout * 1000 };
      assertOneInput(flags);
      return run({
        name: "call",
        awaits: { tool },
        readsInput: params.isStandardInput || flags.answers?.isStandardInput,
        work: async (context) => {
          const answers = await readAnswerFlags(flags, context.signal);
          return await (await requests()).callTool(context, { tool, typed, params, answers, ...times });
        },
        // Files and standard input belong to the process in which the command was typed.
        toWords: async (signal) => [
          ...["call", "--timeout", `${timeout}`, "--params", JSON.stringify(await params.read(signal))],
          ...(maxTimeout === undefined ? [] : ["--max-timeout", `${maxTimeout}`]),
          ...await toAnswerWords(flags, signal),
          ...["--", tool, ...toWords(typed)],
        ],
      });
    });
  for (const option of answerOptions()) command.addOption(option);
}

/** Standard input can be read once. */
function assertOneInput({ params, answers }: CallFlags): void {
  if (params.isStandardInput && answers?.isStandardInput) {
    throw new UsageError(
      "Cannot read both --params and --answers from standard input; give one of them as @FILE",
    );
  }
}

function addDesktop(program: Command, run: RunRequest): void {
  program.command("desktop").description("show the Desktop: the windows of the MCP servers")
    .addOption(new Option("--size <n>", "show at most n windows").argParser(wholeNumber(0)))
    .option("--window <uri>", "show only this window")
    .addOption(
      new Option(
        "--lines <n>",
        "on a terminal, show n lines of each window, 0 for all (default: 20; all with --window)",
      ).argParser(wholeNumber(0)),
    )
    .action((flags: { size?: number; window?: string; lines?: number }) =>
      run({ name: "desktop", work: async (context) => (await requests()).showDesktop(context, flags) })
    );
}

interface FinderFlags {
  readonly query?: string;
  readonly keyword?: string[];
  readonly fileType?: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly depth: TreeDepth;
}

function addFinder(program: Command, run: RunRequest): void {
  program.command("finder").description("list the Finder: the documents of the MCP servers")
    .addOption(
      new Option(
        "--query <words>",
        "search these words in the text of documents; with the pages that have them",
      ).conflicts(["keyword", "fileType"]),
    )
    .addOption(
      new Option(
        "--keyword <word>",
        "only documents with this word in title, keywords or summary; repeatable",
      )
        .argParser(collect),
    )
    .option("--file-type <type>", "only documents of exactly this type, such as pdf")
    .addOption(new Option("--offset <n>", "skip the first n documents").argParser(wholeNumber(0)))
    .addOption(
      new Option("--limit <n>", "list at most n documents (default: 20)").argParser(wholeNumber(0)),
    )
    .addOption(
      new Option(
        "--depth <depth>",
        "how deep to read; pages are the first 100 of each document",
      )
        .choices(TREE_DEPTHS).default("documents"),
    )
    .action(({ keyword: keywords, ...rest }: FinderFlags) =>
      run({
        name: "finder",
        work: async (context) => (await requests()).showFinder(context, { keywords, ...rest }),
      })
    );
}

function addRead(program: Command, run: RunRequest): void {
  program.command("read <uri>").description("read a dpe:// or window:// resource")
    .option("--mcp-server <name>", "read from this MCP server; the URI may then have any scheme")
    .action((uri: string, flags: { mcpServer?: string }) => {
      assertReadable(uri, flags.mcpServer);
      return run({
        name: "read",
        awaits: { server: flags.mcpServer },
        work: async (context) => (await requests()).readResource(context, { uri, ...flags }),
      });
    });
}

/** Only `dpe://` and `window://` URIs say which MCP server has the resource. */
function assertReadable(uri: string, mcpServer: string | undefined): void {
  if (mcpServer !== undefined || /^(dpe|window):/i.test(uri)) return;
  throw new UsageError(
    `Cannot read "${uri}": give --mcp-server NAME, since only dpe:// and window:// URIs name their MCP server`,
  );
}

function parseCallSeconds(raw: string): number {
  const seconds = parseSeconds(raw);
  if (seconds > MAX_TIMEOUT_SECONDS) throw new InvalidArgumentError(`At most ${MAX_TIMEOUT_SECONDS}`);
  return seconds;
}

interface AnswerFlags {
  readonly answer?: Readonly<Record<string, string>>;
  readonly answers?: CallParams;
  /** Of the Agent's command line alone, as `questions`: at a Computer, a call that was typed needs no confirmation. */
  readonly approve?: boolean;
  readonly questions?: boolean;
}

function answerOptions(): Option[] {
  return [
    new Option(
      "--answer <NAME=VALUE>",
      "the answer to a field of the same name, should the MCP server ask; repeatable",
    ).argParser(collectPair),
    new Option(
      "--answers <json>",
      "such answers as a JSON object, @FILE, or - for standard input; {} accepts the defaults",
    ).argParser((written) => new CallParams(written)),
  ];
}

/** The options of the Agent's command line beside these. */
export function agentAnswerOptions(): Option[] {
  return [
    new Option("--approve", "approve the call, should the Computer ask this Agent to confirm it").default(
      false,
    ),
    new Option(
      "--questions",
      "offer to answer questions also without a terminal; one that no option answers is declined, and told on " +
        "standard error",
    ).default(false),
  ];
}

/** Reads the answers, and the file or standard input that has them. */
async function readAnswerFlags(flags: AnswerFlags, signal: AbortSignal): Promise<AnswerOptions> {
  const { answer: texts = {}, answers, approve: isApproved = false, questions: isOffered = false } = flags;
  const values = await answers?.read(signal);
  return { texts, values, isApproved, isOffered };
}

/** The words of the answers for a Computer of another process. */
async function toAnswerWords(flags: AnswerFlags, signal: AbortSignal): Promise<string[]> {
  const { texts, values } = await readAnswerFlags(flags, signal);
  return [
    ...Object.entries(texts).flatMap(([name, text]) => ["--answer", `${name}=${text}`]),
    ...(values === undefined ? [] : ["--answers", JSON.stringify(values)]),
  ];
}

interface ServerFlags {
  readonly mcpServer?: string;
}

/** Recognizes a template whose host begins with fixed text. */
const HAS_FIXED_HOST = /^(?:dpe|window):\/\/[^/?#{}]/i;

interface Beginning {
  readonly name: string;
  readonly value: string;
}

function addMcpCommands(program: Command, run: RunRequest): void {
  for (const [name, list] of Object.entries(LISTS)) addList(program, run, { name, ...list });
  addPrompt(program, run);
  addComplete(program, run);
}

interface List {
  readonly about: string;
  /** What the name of a server chooses. */
  readonly chosen?: string;
  readonly work: "listServers" | "listPrompts" | "listResources" | "listTemplates";
}

const LISTS: Readonly<Record<string, List>> = {
  servers: {
    about: "list the MCP servers of the Computer, as they present themselves",
    chosen: "show only this MCP server, with its instructions and capabilities",
    work: "listServers",
  },
  prompts: { about: "list the prompts of the MCP servers", work: "listPrompts" },
  resources: { about: "list the resources of the MCP servers, of any scheme", work: "listResources" },
  templates: { about: "list the resource templates of the MCP servers", work: "listTemplates" },
};

function addList(
  program: Command,
  run: RunRequest,
  { name, about, chosen = "only of this MCP server", work }: List & { readonly name: string },
): void {
  program.command(name).description(about)
    .argument("[server]", chosen)
    .action((server: string | undefined) =>
      run({
        name,
        awaits: { server },
        work: async (context) => (await mcpRequests())[work](context, { server }),
      })
    );
}

function addPrompt(program: Command, run: RunRequest): void {
  program.command("prompt <prompt>").description("fill in a prompt and show its messages")
    .addArgument(typedArguments())
    .option("--mcp-server <name>", "the MCP server of the prompt; by default the first that lists it")
    .action((name: string, typed: TypedArguments, { mcpServer }: ServerFlags) =>
      run({
        name: "prompt",
        awaits: { server: mcpServer },
        work: async (context) =>
          (await mcpRequests()).fillInPrompt(context, { name, args: toTexts(typed), mcpServer }),
      })
    );
}

function addComplete(program: Command, run: RunRequest): void {
  program.command("complete").description("suggest values for a parameter of a prompt or a template")
    .argument("<target>", "the name of a prompt, or a template with its ://")
    .argument(
      "<parameter>",
      "NAME=BEGINNING of the parameter to complete; BEGINNING may be empty",
      readBeginning,
    )
    .addArgument(typedArguments())
    .option("--mcp-server <name>", "the MCP server of the prompt or the template")
    .action((target: string, argument: Beginning, typed: TypedArguments, { mcpServer }: ServerFlags) => {
      assertCompletable(target, mcpServer);
      return run({
        name: "complete",
        awaits: { server: mcpServer },
        work: async (context) =>
          (await mcpRequests()).complete(context, { target, argument, chosen: toTexts(typed), mcpServer }),
      });
    });
}

/** Only `dpe://` and `window://` templates with a fixed host say which MCP server has them. */
function assertCompletable(target: string, mcpServer: string | undefined): void {
  if (mcpServer !== undefined || !target.includes("://") || HAS_FIXED_HOST.test(target)) return;
  throw new UsageError(
    `Cannot complete "${target}": give --mcp-server NAME, since only a dpe:// or window:// template with a fixed ` +
      "host names its MCP server",
  );
}

function readBeginning(word: string): Beginning {
  const cut = word.indexOf("=");
  if (cut < 1) throw new InvalidArgumentError("Write NAME=BEGINNING, such as language=py");
  return { name: word.slice(0, cut), value: word.slice(cut + 1) };
}
