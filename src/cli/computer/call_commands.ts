/** Declares the commands about calls: those that wait for a person, those that run, and those that have ended. */
import { type Command, Option } from "commander";
import { wholeNumber } from "../options.ts";
import { addCommand, type RunCommand } from "./command.ts";

const calls = () => import("./answers/calls.ts");
const status = () => import("./answers/status.ts");

export function addCallCommands(program: Command, run: RunCommand): void {
  const group = program.command("calls").description(
    "show the calls that wait for you and those that run, and answer or cancel them",
  );
  addCommand(group, run, {
    usage: "list",
    isDefault: true,
    about: "show what waits for you, and the calls that run; you can then be asked for a minute",
    needs: "running",
    work: async (context) => (await calls()).listCalls(context),
  }).alias("ls");
  addCommand(group, run, {
    usage: "show <call>",
    about: "show all arguments of a call that waits",
    needs: "running",
    work: async (context, id: string, { page }: { page: number }) =>
      (await calls()).showCall(context, { id, page }),
  }).addOption(
    new Option("--page <n>", "which page of long arguments").argParser(wholeNumber(1)).default(1),
  );
  addDecisions(group, run);
  addCommand(group, run, {
    usage: "cancel <call>",
    about: "cancel a call that runs",
    needs: "running",
    work: async (context, id: string) => (await calls()).cancelCall(context, { id }),
  });
  for (const verb of ["pause", "resume"] as const) {
    addCommand(program, run, {
      usage: verb,
      about: verb === "pause"
        ? "give Agents nothing more: refuse new calls and all reads; calls that run go on"
        : "take calls and reads of Agents again",
      needs: "running",
      work: async (context) => (await calls()).setPaused(context, verb === "pause"),
    });
  }
  addCommand(program, run, {
    usage: "history",
    about: "show the tool calls that have ended, and what Agents have read, at most 1,000 each",
    needs: "running",
    work: async ({ hosted }, { sinceId }: { sinceId: number }) =>
      (await status()).showHistory(hosted, { sinceId }),
  }).addOption(
    new Option("--since-id <id>", "those after the entry with this id").argParser(wholeNumber(0)).default(0),
  );
}

function addDecisions(group: Command, run: RunCommand): void {
  addCommand(group, run, {
    usage: "allow <call>",
    about: "run a call that waits",
    needs: "running",
    work: async (context, id: string, { always, shown }: { always: boolean; shown: string }) =>
      (await calls()).decide(context, { id, decision: always ? "always" : "yes", shown }),
  })
    .requiredOption("--shown <digest>", "the digest of the call that you were shown, as the list has it")
    .option("--always", "allow the tool to this Agent and its client until the Computer ends", false);
  addCommand(group, run, {
    usage: "deny <call>",
    about: "refuse a call that waits",
    needs: "running",
    work: async (context, id: string) => (await calls()).decide(context, { id, decision: "no" }),
  });
  addCommand(group, run, {
    usage: "answer <question>",
    about: "answer a question of an MCP server",
    needs: "running",
    work: async (context, id: string, { content }: { content?: string }) =>
      (await calls()).answerQuestion(context, { id, content }),
  }).option("--content <json>", "the fields of a form as a JSON object; nothing for a page to open");
  addCommand(group, run, {
    usage: "decline <question>",
    about: "decline a question of an MCP server",
    needs: "running",
    work: async (context, id: string) => (await calls()).declineQuestion(context, { id }),
  });
}
