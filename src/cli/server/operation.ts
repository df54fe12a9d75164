/** The operation of a Server that runs: commands of other processes, and the console. */
import type { Command } from "commander";
import type { Logger } from "../../log.ts";
import { type CommandAnswer, showAnswer } from "../answers/answer.ts";
import { openAtStart, ProgramConsole } from "../console.ts";
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
  { logger, ...parts }:
    & Pick<OperatedServer, "url" | "insight" | "trail" | "tokens" | "isHub" | "addCommands">
    & {
      readonly logger: Logger;
    },
): Promise<Operation> {
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
  const run = runTyped((typed) => buildServerCommands(typed, server));
  const console = server.console = opening.use(createConsole(server, { run, logger }));
  opening.use(await openControl("server", { name: portOf(server.url), log: logger, run }));
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

function createConsole(
  server: OperatedServer,
  { run, logger }: { readonly run: RunWords; readonly logger: Logger },
): ProgramConsole {
  const { trail, watches } = server;
  return new ProgramConsole({
    page: "operator",
    build: () => buildServerCommands(UNTYPED, server),
    reading: [...READING_COMMANDS, "grants list"],
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

function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === "https:" ? "443" : "80");
}

/** Declares the commands, for each run again since commander keeps parsed values. */
export function buildServerCommands(typed: Typed, server: OperatedServer): Command {
  const { person, signal, presentation } = typed;
  const program = createPromptProgram(typed.print, presentation.screen?.palette);
  const show = (answer: CommandAnswer, { json }: { readonly json: boolean }) =>
    showAnswer(answer, typed, { ...presentation, json: json || presentation.json });
  server.addCommands?.(program, show);
  addServerCommands(program, async ({ json: isWanted, work }) => {
    const json = isWanted || presentation.json;
    show(await work({ server, signal, conversation: new Conversation(person, { json }) }), { json });
  });
  return program;
}
