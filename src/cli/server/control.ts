/** Takes the commands of other processes for the Server of this process. */
import type { Command } from "commander";
import type { Logger } from "../../log.ts";
import { showAnswer } from "../answers/answer.ts";
import { Conversation } from "../computer/conversation.ts";
import { openControl } from "../control/server.ts";
import { runTyped, type Typed } from "../control/typed.ts";
import { createPromptProgram } from "../prompt/program.ts";
import { addServerCommands } from "./commands.ts";
import type { OperatedServer } from "./operated_server.ts";

/** Opens the control socket of a Server, whose name is its port. */
export function openServerControl(server: OperatedServer, log: Logger): Promise<AsyncDisposable> {
  const run = runTyped((typed) => buildServerCommands(typed, server));
  return openControl("server", { name: portOf(server.url), log, run });
}

function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === "https:" ? "443" : "80");
}

/** Declares the commands, for each run again since commander keeps parsed values. */
export function buildServerCommands(typed: Typed, server: OperatedServer): Command {
  const { person, signal, presentation } = typed;
  const program = createPromptProgram(typed.print, presentation.screen?.palette);
  addServerCommands(program, async ({ json: isWanted, work }) => {
    const json = isWanted || presentation.json;
    const conversation = new Conversation(person, { json });
    const answer = await work({ server, signal, tell: (told) => conversation.tell(told) });
    showAnswer(answer, typed, { ...presentation, json });
  });
  return program;
}
