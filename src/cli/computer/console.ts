/** The console of a Computer: its commands, and what its page is told. */
import { openAtStart, ProgramConsole, type TellEvent } from "../console.ts";
import type { RunWords } from "../control/server.ts";
import type { LogOptions } from "../options.ts";
import { READING_COMMANDS } from "./commands.ts";
import type { HostedComputer } from "./hosted_computer.ts";
import { toWaitingEntry } from "./people/waiting.ts";
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
    run,
    follow: (tell) => follow(hosted, tell),
    watch: () => hosted.people.watch(() => {}),
    logger: hosted.options.logger,
  });
  hosted.console = opener;
  if (port !== undefined) await openAtStart(opener, { module: "computer", port, ...options });
  return opener;
}

/** Tells the page what has changed: events as docs/console.md lists them. */
function follow({ people }: HostedComputer, tell: TellEvent): Disposable {
  return people.follow(({ waiting, gone }) =>
    tell("waiting", gone === undefined ? toWaitingEntry(waiting) : { id: waiting.id, gone })
  );
}
