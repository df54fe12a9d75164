/** Candidates for half-typed names, arguments and values of MCP prompts, from the MCP servers themselves. */
import type { LocalMcp } from "../../computer/local_mcp.ts";
import { readArgument, toTexts, type TypedArguments } from "../answers/arguments.ts";

/** How long the Tab key waits for MCP servers, in milliseconds. */
const TIMEOUT_MS = 1_000;

/** The names of all prompts. */
export async function promptNames(mcp: LocalMcp): Promise<string[]> {
  const { prompts } = await mcp.getPrompts(undefined, { timeoutMs: TIMEOUT_MS });
  return prompts.map(({ name }) => name);
}

/**
 * `NAME=` for each argument of a prompt, then the values that its MCP server suggests.
 *
 * @param words The name of the prompt, and the arguments that are typed already.
 * @param word The argument that is half typed.
 */
export async function promptArguments(
  mcp: LocalMcp,
  words: readonly string[],
  word: string,
): Promise<string[]> {
  const [prompt = "", ...typed] = words;
  const cut = word.indexOf("=");
  if (cut < 0) {
    const { prompts } = await mcp.getPrompts(undefined, { timeoutMs: TIMEOUT_MS });
    return prompts.find(({ name }) => name === prompt)?.arguments?.map(({ name }) => `${name}=`) ?? [];
  }
  const name = word.slice(0, cut);
  try {
    const context = { arguments: toTexts(typed.reduce<TypedArguments>(readNext, { json: {}, texts: {} })) };
    const argument = { name, value: word.slice(cut + 1) };
    const { values } = await mcp.complete({ prompt, argument, context, timeoutMs: TIMEOUT_MS });
    return values.map((value) => `${name}=${value}`);
  } catch {
    // A prompt without suggestions, or a word that is no argument: there is nothing to complete.
    return [];
  }
}

function readNext(read: TypedArguments, word: string): TypedArguments {
  return readArgument(word, read);
}
