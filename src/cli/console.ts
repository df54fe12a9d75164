/**
 * The console of a program: a page and an API over its commands. What it needs is loaded when it is opened, so that a
 * program without a page has none of it in memory.
 */
import type { Command } from "commander";
import { Limiter } from "../async/limiter.ts";
import type { OfferedCommand, OfferedCommands } from "../console/api.ts";
import type { ConsoleDoor } from "../console/door.ts";
import type { MergeOptions } from "../console/feed.ts";
import type { ConsolePage, ConsoleProgram, ConsoleSite, SiteOptions } from "../console/site.ts";
import { ListenError } from "../http/listening.ts";
import type { Logger, LogModule } from "../log.ts";
import { NOBODY, type Person } from "./control/person.ts";
import type { RunWords } from "./control/server.ts";
import { announce, type LogOptions } from "./options.ts";
import { UsageError } from "./outcome.ts";
import { everyCommand } from "./program.ts";

/** Tells an event: its name, and its value if it is small; without one, the page reads again what the name says. */
export type TellEvent = (name: string, value?: object, merge?: MergeOptions) => void;

export interface ProgramConsoleOptions {
  readonly page: ConsolePage;
  /** Declares the commands, without running any. */
  readonly build: () => Command;
  /** The commands that only read, by their words such as `server logs`. */
  readonly reading: readonly string[];
  readonly run: RunWords;
  /** Who answers what a command asks while it runs for the page; nobody by default. */
  readonly person?: Person;
  /** Tells events until disposal, which comes when the console is closed. */
  readonly follow?: (tell: TellEvent) => Disposable | Promise<Disposable>;
  /** Called while somebody reads the events; what it returns is disposed of when nobody does any more. */
  readonly watch?: () => Disposable;
  readonly logger: Logger;
}

interface OpenConsole {
  readonly door: ConsoleDoor;
  readonly ending: DisposableStack;
}

/** Opens and closes the console of a program that runs. */
export class ProgramConsole implements AsyncDisposable {
  readonly #options: ProgramConsoleOptions;
  #open: OpenConsole | undefined;
  readonly #served = new DisposableStack();
  /** Openings and closings run one after another. */
  readonly #changes = new Limiter(1);

  constructor(options: ProgramConsoleOptions) {
    this.#options = options;
  }

  /**
   * Opens the port, and resolves to the link; an open console keeps its port and its link.
   *
   * @param port A free one by default.
   * @throws {ListenError} when the port is in use.
   */
  open(port?: number): Promise<string> {
    return this.#changes.run(async () => {
      this.#open ??= await this.#start(port);
      return this.#open.door.link;
    });
  }

  /** Closes the port, and forgets its token. Resolves to whether it was open. Idempotent. */
  close(): Promise<boolean> {
    return this.#changes.run(async () => {
      const open = this.#open;
      this.#open = undefined;
      open?.ending.dispose();
      await open?.door.close();
      return open !== undefined;
    });
  }

  /** Closes the console, and ends what is served elsewhere. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#served.dispose();
    await this.close();
  }

  /** Serves the page and the API below a path of another port of the program, for whoever is let in there. */
  async serve(place: Pick<SiteOptions, "base" | "senders" | "admit">): Promise<ConsoleSite> {
    const { ConsoleSite } = await import("../console/site.ts");
    const { program, ending } = await this.#offer();
    const site = new ConsoleSite({ ...program, ...place });
    this.#served.use(ending);
    this.#served.defer(() => site.close());
    return site;
  }

  async #start(port: number | undefined): Promise<OpenConsole> {
    const { ConsoleDoor } = await import("../console/door.ts");
    const { program, ending } = await this.#offer();
    try {
      return { door: await ConsoleDoor.open({ ...program, port }), ending };
    } catch (error) {
      ending.dispose();
      throw error;
    }
  }

  /** What a console shows and runs, and what ends its events. */
  async #offer(): Promise<{ readonly program: ConsoleProgram; readonly ending: DisposableStack }> {
    const { page, run, person = NOBODY, logger, follow, watch } = this.#options;
    const { EventFeed } = await import("../console/feed.ts");
    const feed = new EventFeed();
    const ending = new DisposableStack();
    ending.defer(() => feed.close());
    if (follow !== undefined) ending.use(await follow((...event) => feed.publish(...event)));
    if (watch !== undefined) feed.whileRead(watch);
    const program: ConsoleProgram = {
      page,
      feed,
      logger,
      commands: this.#commands(),
      run: (words, { signal, user }) => {
        const actor = { via: "console", ...user } as const;
        return run(words, { json: true, screen: undefined, signal, actor, progress: () => {}, person });
      },
    };
    return { program, ending };
  }

  /** All commands but those that the API has no use for. */
  #commands(): OfferedCommands {
    const { build, reading } = this.#options;
    const offered = [...everyCommand(build())].filter((each) => each.commands.length === 0)
      .map((each) => offer(each, reading)).filter(({ command }) => !NOT_OFFERED.includes(command));
    return new Map(offered.map((each) => [each.path, each]));
  }
}

/** What opens and closes the console; and `events`, which does not end, and whose path is that of the stream. */
const NOT_OFFERED: readonly string[] = ["", "console", "events"];

/**
 * Opens a console at the start of its program, and prints the link.
 *
 * @throws {UsageError} when the port is in use.
 */
export async function openAtStart(
  console: ProgramConsole,
  { module, port, ...options }: Pick<LogOptions, "logFormat"> & {
    readonly module: LogModule;
    /** `true` for a free one. */
    readonly port: number | true;
  },
): Promise<void> {
  const url = await console.open(port === true ? 0 : port).catch((error) => {
    throw error instanceof ListenError ? new UsageError(error.message, { cause: error }) : error;
  });
  announce(module, options, { text: url, message: "opened the console", fields: { url } });
}

function offer(each: Command, reading: readonly string[]): OfferedCommand {
  const words = wordsOf(each);
  const command = words.join(" ");
  return {
    command,
    about: each.description(),
    path: `/api/${words.join("/")}`,
    methods: reading.includes(command) ? ["GET", "POST"] : ["POST"],
    arguments: each.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      repeated: argument.variadic,
    })),
    // The hidden ones are those of the program.
    options: each.options.filter(({ hidden }) => !hidden).map((option) => ({
      name: option.long?.replace(/^--/, "") ?? option.attributeName(),
      takes_value: option.required || option.optional,
      takes_pairs: option.flags.endsWith("<NAME=VALUE>"),
      about: option.description,
    })),
  };
}

/** The words that name a command, without that of the program. */
export function wordsOf(command: Command): string[] {
  const names: string[] = [];
  for (let each = command; each.parent !== null; each = each.parent) names.unshift(each.name());
  return names;
}
