/** The questions of a call to the person who typed it at the Agent's command line. */
import type { AgentQuestion } from "../../agent/questions.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import { noteText } from "../answers/answer.ts";
import type { AskedComputer } from "../answers/requests.ts";
import { printError } from "../outcome.ts";
import { LazyEditor } from "../lazy_editor.ts";
import type { CallPerson } from "../questions/call_answers.ts";
import type { ShownQuestion } from "../questions/shown_question.ts";

/** The person at the terminal. A program that reads JSON, and a pipe, are not asked. */
export function personAtTerminal({ json }: { readonly json: boolean }): CallPerson {
  const isHere = !json && Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
  return {
    isHere,
    // A terminal shows the progress of the call.
    tell: (note) => Deno.stderr.isTerminal() || printError(noteText(note, { json })),
    ask: async (question, options) => {
      if (!isHere) return undefined;
      // Loaded only now, because few calls are asked anything.
      const { askBy } = await import("../questions/terminal_answers.ts");
      return await askBy(new LazyEditor().use)(question, options);
    },
  };
}

export function askedComputer(computer: RemoteComputer): AskedComputer {
  return {
    name: computer.name,
    getTools: (options) => computer.getTools(options),
    callTool: (tool, params, { answer, ...options }) => {
      const onQuestion = answer && ((question: AgentQuestion) => answer(fromQuestion(question)));
      return computer.callTool(tool, params, { ...options, onQuestion });
    },
    getDesktop: (options) => computer.getDesktop(options),
    getFinder: (options) => computer.getFinder(options),
    readResource: (uri, options) => computer.readResource(uri, options),
    getMcpServers: (options) => computer.getMcpServers(options),
    getPrompts: (mcpServer, options) => computer.getPrompts(mcpServer, options),
    getPrompt: (name, args, options) => computer.getPrompt(name, args, options),
    getResources: (mcpServer, options) => computer.getResources(mcpServer, options),
    getResourceTemplates: (mcpServer, options) => computer.getResourceTemplates(mcpServer, options),
    complete: (options) => computer.complete(options),
  };
}

function fromQuestion(question: AgentQuestion): ShownQuestion {
  const { computer, mcpServer: server, tool, message, problems, timeLeftMs, signal } = question;
  const asker = { computer, server, tool, caller: "user" } as const;
  const base = { asker, message, problems, timeLeftMs, signal };
  switch (question.mode) {
    case "form":
      return { ...base, mode: "form", fields: question.fields, schema: question.schema };
    case "url":
      return { ...base, mode: "url", url: question.url };
    case "approval":
      return { ...base, mode: "approval", params: question.params };
  }
}
