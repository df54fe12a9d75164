/** Runs one command on a Computer that is started for it and ends with it. */
import type { InputSource } from "../../computer/inputs/sources.ts";
import { showProgress } from "../../terminal/progress.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { showAnswer } from "../answers/answer.ts";
import { printError, UsageError } from "../outcome.ts";
import type { CommandCall } from "./command.ts";
import { Conversation, personAt } from "../control/conversation.ts";
import { LazyEditor } from "../../terminal/editor/lazy_editor.ts";
import { askedInputs } from "./questions.ts";
import { type ComputerCliOptions, openHostedComputer } from "./open_computer.ts";
import { waitForStart } from "./start.ts";

/** Throws a UsageError for a command that needs a Computer that runs already. */
export async function runAlone(
  { name, needs, work, mayBeNew, awaits: awaited = {} }: CommandCall,
  { options, signal }: { readonly options: ComputerCliOptions; readonly signal: AbortSignal },
): Promise<void> {
  if (needs === "running") {
    throw new UsageError(
      `Cannot run "${name}" with --config, --documents or --skills: it needs a running Computer; leave them out to reach one`,
    );
  }
  const questions = countedInputs(askedInputs(new LazyEditor().use));
  await using hosted = await openHostedComputer(options, {
    inputs: Deno.stdin.isTerminal() ? questions.source : undefined,
    isWatching: false,
    mayBeNew,
  });
  using progress = showProgress("");
  if (needs === "servers") {
    progress.update("starting MCP servers");
    await waitForStart(await hosted.start(), {
      awaited,
      timeoutSeconds: options.startTimeout,
      isAsking: () => questions.count > 0,
      log: hosted.options.logger,
      signal,
    });
  }
  const { json } = options;
  const person = personAt(new LazyEditor({ isPlain: json }).use);
  const conversation = new Conversation(person, { json });
  const place = "by a command";
  const answer = await work({
    hosted,
    signal,
    progress: (text) => progress.update(text),
    conversation,
    place,
  });
  progress[Symbol.dispose]();
  showAnswer(answer, { print: console.log, printError }, { json, screen: currentScreen() });
}

function countedInputs(ask: InputSource): { readonly source: InputSource; readonly count: number } {
  let count = 0;
  return {
    get count() {
      return count;
    },
    source: async (id, request) => {
      count++;
      try {
        return await ask(id, request);
      } finally {
        count--;
      }
    },
  };
}
