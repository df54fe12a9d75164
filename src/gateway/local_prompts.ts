/** The prompts of the gateway itself: they put windows and documents into a conversation. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { makeBuiltins } from "../agent/toolkit/builtins/all.ts";
import type { LocalTool } from "../agent/toolkit/tool_context.ts";
import {
  askableComputers,
  askEach,
  type Reach,
  reachedComputers,
} from "../agent/toolkit/builtins/builtin.ts";
import type { LocalPrompt, McpPrompt } from "./prompts.ts";

/** The names of the prompts, which no prompt of a Computer gets. */
export const LOCAL_PROMPT_NAMES = ["attach_desktop", "attach_document"] as const;

/** How long a suggestion waits for a Computer, in milliseconds: a person is typing. */
const PATIENCE_MS = 3_000;

type Suggest = (value: string) => Promise<readonly string[]>;

/** Makes the prompts for a client that reaches these Computers. Each shows what the tool of the same purpose answers. */
export function makeLocalPrompts(reach: Reach): LocalPrompt[] {
  const tools = new Map(makeBuiltins(reach).map((tool) => [tool.definition.name, tool]));
  const suggestComputers: Suggest = (value) =>
    Promise.resolve(reachedComputers(reach).filter((name) => name.startsWith(value)));
  const computer = { name: "computer", description: "The name of a Computer; all by default." };
  return [
    toPrompt({
      name: "attach_desktop",
      title: "Attach the Desktop",
      description: "Puts the live windows of Computers into the conversation.",
      arguments: [computer, { name: "window", description: "The window:// URI of one window." }],
    }, { tool: tools.get("view_desktop"), suggests: new Map([["computer", suggestComputers]]) }),
    toPrompt({
      name: "attach_document",
      title: "Attach a document",
      description: "Puts a document of a Computer into the conversation.",
      arguments: [
        { name: "uri", description: "The dpe:// URI of the document.", required: true },
        computer,
        { name: "pages", description: "Indices of some pages from 0, such as 0-4; all by default." },
      ],
    }, {
      tool: tools.get("read_document"),
      suggests: new Map([["computer", suggestComputers], ["uri", (value) => suggestDocuments(reach, value)]]),
    }),
  ];
}

function toPrompt(
  definition: McpPrompt,
  { tool, suggests }: {
    readonly tool: LocalTool | undefined;
    readonly suggests: ReadonlyMap<string, Suggest>;
  },
): LocalPrompt {
  const { name } = definition;
  const required = tool?.definition.inputSchema["required"];
  return {
    definition,
    complete: (argument, value) => suggests.get(argument)?.(value) ?? Promise.resolve([]),
    async get(args, context) {
      const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== ""));
      const missing = (Array.isArray(required) ? required : []).find((argument) =>
        !Object.hasOwn(given, argument)
      );
      if (missing !== undefined) {
        const text = `Cannot get the prompt "${name}": the argument "${missing}" is missing`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
      }
      const result = await tool?.run(given, context);
      if (result === undefined || result.isError === true) {
        const text = result?.content.map(({ text }) => text).join("\n") ?? "";
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
      }
      return result.content.map((content) => ({ role: "user", content }));
    },
  };
}

/** The documents whose URI begins so, or whose title contains the value. */
async function suggestDocuments(reach: Reach, value: string): Promise<string[]> {
  const answers = await askEach(
    askableComputers(reach),
    (computer) => computer.getFinder({ limit: 100, timeoutMs: PATIENCE_MS }),
    { patienceMs: PATIENCE_MS },
  );
  const documents = answers.flatMap((answer) => "value" in answer ? answer.value.documents : []);
  const isFit = ({ uri, title }: { readonly uri: string; readonly title: string }) =>
    uri.startsWith(value) || title.toLowerCase().includes(value.toLowerCase());
  return [...new Set(documents.filter(isFit).map(({ uri }) => uri))];
}
