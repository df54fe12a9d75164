/** A console whose program is made up by a test: what no real Computer has at once, such as 500 waiting calls. */
import type { OfferedCommand } from "../../src/console/api.ts";
import { ConsoleDoor } from "../../src/console/door.ts";
import { EventFeed } from "../../src/console/feed.ts";
import { silentLogger } from "../../src/log.ts";

/** What a command answers, by its words: a value, or a function of the words after the command and of the script. */
export type Script = Readonly<Record<string, unknown>>;

const OPTIONS: readonly string[] = [
  "lines",
  "page",
  "limit",
  "offset",
  "keyword",
  "params",
  "timeout",
  "shown",
];
const MORE_OPTIONS: readonly string[] = ["content", "entry"];
const FLAGS: readonly string[] = ["always"];

/** An error of a command. */
export class ScriptedFailure extends Error {}

export class ScriptedConsole implements AsyncDisposable {
  readonly feed: EventFeed;
  readonly door: ConsoleDoor;
  /** The words of each command that was run. */
  readonly ran: string[][] = [];
  readonly script: Record<string, unknown>;

  private constructor(door: ConsoleDoor, feed: EventFeed, script: Record<string, unknown>, ran: string[][]) {
    this.door = door;
    this.feed = feed;
    this.script = script;
    this.ran = ran;
  }

  /** @param port That of a console that was closed; a free one by default. */
  static async open(given: Script, port?: number): Promise<ScriptedConsole> {
    const feed = new EventFeed();
    const script: Record<string, unknown> = { "calls show": showCall, ...given };
    const ran: string[][] = [];
    const commands = new Map(Object.keys(script).map(offer).map((each) => [each.path, each]));
    const door = await ConsoleDoor.open({
      page: "owner",
      feed,
      commands,
      port,
      logger: silentLogger,
      run: async (words) => {
        ran.push([...words]);
        const cut = words.findIndex((word) => word.startsWith("--"));
        const value = script[words.slice(0, cut).join(" ")];
        try {
          const answer = typeof value === "function" ? await value(words.slice(cut), script) : value;
          return { output: JSON.stringify(answer ?? null), error: "", exitCode: 0 };
        } catch (error) {
          if (!(error instanceof ScriptedFailure)) throw error;
          return { output: "", error: JSON.stringify({ error: { message: error.message } }), exitCode: 1 };
        }
      },
    });
    return new ScriptedConsole(door, feed, script, ran);
  }

  /** How often a command was run. */
  countOf(name: string): number {
    return this.ran.filter((words) => words.join(" ").startsWith(`${name} --`)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.feed.close();
    await this.door.close();
  }
}

/** The first page of the arguments of a call: of those of the list, or of one that was told later. */
function showCall(words: readonly string[], { "calls list": list }: Script) {
  const id = words.at(-1);
  const { waiting } = list as { waiting: readonly { id: string; arguments?: unknown }[] };
  const params = waiting.find((each) => each.id === id)?.arguments ?? { path: `/tmp/${id}` };
  return { id, page: 1, pages: 1, text: JSON.stringify(params) };
}

function offer(name: string): OfferedCommand {
  const options = [...OPTIONS, ...MORE_OPTIONS].map((name) => ({
    name,
    takes_value: true,
    takes_pairs: false,
    about: "",
  }));
  const flags = FLAGS.map((name) => ({ name, takes_value: false, takes_pairs: false, about: "" }));
  return {
    command: name,
    about: "",
    path: `/api/${name.replaceAll(" ", "/")}`,
    methods: ["GET", "POST"],
    arguments: [],
    options: [...options, ...flags],
  };
}
