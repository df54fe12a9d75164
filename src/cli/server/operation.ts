/** The operation of a Server that runs: commands of other processes, and the console. */
import type { Command } from "commander";
import type { Logger } from "../../log.ts";
import { portOf } from "../../reach/addresses.ts";
import { auditFields } from "../../server/observe/logs.ts";
import { quoteWord } from "../../terminal/words.ts";
import { toBareLine } from "../../text/safe_text.ts";
import { type CommandAnswer, showAnswer } from "../answers/answer.ts";
import { openAtStart, ProgramConsole, wordsOf } from "../console.ts";
import { Conversation } from "../control/conversation.ts";
import { openControl, type RunWords } from "../control/server.ts";
import { runTyped, type Typed, UNTYPED } from "../control/typed.ts";
import { createPromptProgram } from "../prompt/program.ts";
import { addServerCommands, READING_COMMANDS } from "./commands.ts";
import { OfficeWatches } from "./office_watches.ts";
import type { OperatedServer } from "./operated_server.ts";
import { changedOptions, type ServerCliOptions } from "./options.ts";

/** What a Server lets its operator do while it runs. */
export interface Operation extends AsyncDisposable {
  /** Resolves when the operator wants the Server to end. */
  readonly draining: Promise<void>;
  readonly console: ProgramConsole;
  /** Opens the console if the command line asks for it. */
  openConsole(): Promise<void>;
}

/** Takes commands at the control socket, whose name is the port of the Server, and at the console once it is open. */
export async function operate(
  program: Command,
  parts: Pick<
    OperatedServer,
    "url" | "publicUrl" | "insight" | "trail" | "logger" | "tokens" | "isHub" | "addCommands" | "machines"
  >,
): Promise<Operation> {
  const { logger } = parts;
  const options = program.opts<ServerCliOptions>();
  const { redisUrl, console: port, logFormat } = options;
  await using opening = new AsyncDisposableStack();
  const draining = Promise.withResolvers<void>();
  const server: OperatedServer = {
    ...parts,
    watches: opening.use(new OfficeWatches(parts.insight, logger)),
    console: undefined,
    isShared: redisUrl !== undefined,
    options: changedOptions(program),
    drain: draining.resolve,
  };
  const run = auditedCommands(server);
  const console = server.console = opening.use(createConsole(server, { run, logger }));
  opening.use(watchMachines(server));
  opening.use(await openControl("server", { name: `${portOf(new URL(server.url))}`, log: logger, run }));
  const opened = opening.move();
  return {
    draining: draining.promise,
    console,
    async openConsole() {
      if (port !== undefined) await openAtStart(console, { module: "server", port, logFormat });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The commands that tell, besides those that a request which changes nothing may run. */
const TELLING: readonly string[] = ["grants list", "events", "watch"];

/** Runs commands, and writes who has run one that does something, also one that failed. */
function auditedCommands(server: OperatedServer): RunWords {
  return async (words, context) => {
    let name = "";
    const build = (typed: Typed) =>
      buildServerCommands(typed, server).hook("preAction", (_program, command) => {
        name = wordsOf(command).join(" ");
      });
    const answer = await runTyped(build)(words, context);
    if (name === "" || READING_COMMANDS.includes(name) || TELLING.includes(name)) return answer;
    const fields = auditFields("operate", {
      ...context.actor,
      command: words.map((word) => quoteWord(word)).join(" "),
      failed: answer.exitCode === 0 ? undefined : toBareLine(answer.error),
    });
    if (answer.exitCode === 0) server.logger.info("an operator ran a command", fields);
    else server.logger.warn("a command of an operator failed", fields);
    return answer;
  };
}

function createConsole(
  server: OperatedServer,
  { run, logger }: { readonly run: RunWords; readonly logger: Logger },
): ProgramConsole {
  const { trail, watches } = server;
  return new ProgramConsole({
    page: "operator",
    build: () => buildServerCommands(UNTYPED, server),
    reading: [...READING_COMMANDS, ...TELLING.slice(0, 1)],
    run,
    follow(tell) {
      const ending = new DisposableStack();
      ending.use(trail.followers.follow(() => tell("audit")));
      ending.use(watches.followers.follow((seen) => tell("relayed", { seen })));
      return ending;
    },
    watch: () => watches.whileRead(),
    logger,
  });
}

/** How often it is noted which machines are connected, in milliseconds. */
const SEEN_INTERVAL_MS = 60_000;

function watchMachines({ machines, insight }: OperatedServer): Disposable {
  if (typeof machines === "string") return { [Symbol.dispose]: () => {} };
  const note = () => machines.machines.noteSeen(insight.machines());
  const timer = setInterval(note, SEEN_INTERVAL_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      note();
    },
  };
}

/** Declares the commands, for each run again since commander keeps parsed values. */
export function buildServerCommands(typed: Typed, server: OperatedServer): Command {
  const { actor, person, signal, presentation } = typed;
  const program = createPromptProgram(typed.print, presentation.screen?.palette);
  const show = (answer: CommandAnswer, { json }: { readonly json: boolean }) =>
    showAnswer(answer, typed, { ...presentation, json: json || presentation.json });
  server.addCommands?.(program, { actor, show });
  addServerCommands(program, async ({ json: isWanted, work }) => {
    const json = isWanted || presentation.json;
    show(
      await work({ server: { ...server, actor }, signal, conversation: new Conversation(person, { json }) }),
      { json },
    );
  });
  return program;
}
