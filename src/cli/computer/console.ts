/** The console of a Computer: its commands, and what its page is told. */
import { openAtStart, ProgramConsole } from "../console.ts";
import type { ControlAnswer } from "../control/message.ts";
import type { RunWords } from "../control/server.ts";
import type { LogOptions } from "../options.ts";
import { READING_COMMANDS } from "./commands.ts";
import type { HostedComputer } from "./hosted_computer.ts";
import { declareCommands } from "./prompt.ts";

/** The port is that of `--console`, `true` for a free one; without it, the console opens by the command. */
export interface HostedConsoleOptions extends Pick<LogOptions, "logFormat"> {
  readonly console?: number | true;
  readonly run: RunWords;
}

/**
 * Offers the console, and opens it with `--console`.
 *
 * @throws {UsageError} when the port is in use.
 */
export async function openHostedConsole(
  hosted: HostedComputer,
  { console: port, run, ...options }: HostedConsoleOptions,
): Promise<AsyncDisposable> {
  const opener = new ProgramConsole({
    page: "owner",
    build: () => declareCommands(hosted),
    reading: READING_COMMANDS,
    run: (...asked) => runForPage(hosted, run, asked),
    follow: async (tell) => (await import("./console_events.ts")).followHosted(hosted, tell),
    watch: () => hosted.people.watch(),
    logger: hosted.options.logger,
  });
  hosted.console = opener;
  if (port !== undefined) await openAtStart(opener, { module: "computer", port, ...options });
  return opener;
}

/** Runs a command for the page, which answers what the command asks, or ends it by declining. */
async function runForPage(
  { people }: HostedComputer,
  run: RunWords,
  [words, context]: Parameters<RunWords>,
): Promise<ControlAnswer> {
  const { PagePerson } = await import("./people/page_person.ts");
  using person = new PagePerson(people);
  const signal = AbortSignal.any([context.signal, person.declined]);
  return await run(words, { ...context, signal, person });
}
