/** `input list|set|clear`, `render` */
import type { ListedInputValue } from "../../../api_values.ts";
import { drawColumns } from "../../../terminal/shapes.ts";
import type { Palette } from "../../../terminal/screen.ts";
import type { MCPServerInput } from "../../../protocol/config.ts";
import { UsageError } from "../../outcome.ts";
import { filledMembers, inputIdsOf, type InputValue } from "../../../config/placeholders.ts";
import { findInput } from "../../../computer/inputs/sources.ts";
import { renderParameters } from "../../../computer/secrets/owner_masking.ts";
import { unknownName } from "../../../text/spelling.ts";
import { describeError } from "../../../text/text.ts";
import { colored, type CommandAnswer } from "../../answers/answer.ts";
import type { CommandContext, HostedComputer } from "../hosted_computer.ts";

export async function listInputs({ hosted }: CommandContext): Promise<CommandAnswer> {
  const { servers, inputs } = hosted.store.config;
  const listed = await Promise.all(inputs.map(async (input): Promise<ListedInputValue> => ({
    id: input.id,
    type: input.type,
    description: input.description,
    value_from: await hosted.originOf(input),
    used_by: servers.filter((server) => inputIdsOf(filledMembers(server)).has(input.id))
      .map(({ name }) => name),
  })));
  const rows = listed.map(({ id, type, description, value_from, used_by }) => [
    id,
    type,
    value_from,
    used_by.length === 0 ? "not used" : `used by ${used_by.join(", ")}`,
    description,
  ]);
  return {
    value: { inputs: listed },
    ...colored((palette) => inputsText(rows, palette)),
  };
}

function inputsText(rows: readonly (readonly string[])[], { strong, faint }: Palette): string {
  return rows.length === 0 ? "no inputs" : drawColumns(rows, { paints: [strong, faint] });
}

/** Sets the value of an input until the Computer ends. */
export function setInput(
  { hosted }: CommandContext,
  { id, value }: { readonly id: string; readonly value: InputValue },
): CommandAnswer {
  const restarted = hosted.computer.setInput(id, value);
  return { value: { id, restarted }, text: `input "${id}" is set${restartedText(restarted)}` };
}

export function clearInput({ hosted }: CommandContext, { id }: { readonly id: string }): CommandAnswer {
  const input = inputOf(hosted, id);
  const restarted = hosted.clearInput(input);
  return { value: { id, restarted }, text: `input "${id}" is cleared${restartedText(restarted)}` };
}

/** Shows the parameters with which servers would start now, secrets masked. It asks no questions and runs no commands. */
export async function render(
  { hosted }: CommandContext,
  { server: name }: { readonly server?: string | undefined },
): Promise<CommandAnswer> {
  const { config } = hosted.store;
  const chosen = config.servers.filter((server) => name === undefined || server.name === name);
  if (name !== undefined && chosen.length === 0) {
    throw new UsageError(unknownName("server", name, config.servers.map((server) => server.name)));
  }
  const context = { inputs: config.inputs, peek: (input: MCPServerInput) => hosted.peekInput(input) };
  const servers: Record<string, unknown> = {};
  for (const server of chosen) servers[server.name] = await renderParameters(server, context);
  return { value: { servers }, text: JSON.stringify(servers, null, 2) };
}

export function inputOf({ store }: HostedComputer, id: string): MCPServerInput {
  try {
    return findInput(id, store.config.inputs);
  } catch (cause) {
    throw new UsageError(describeError(cause), { cause });
  }
}

function restartedText(servers: readonly string[]): string {
  return servers.length === 0 ? "" : `; restarting ${servers.join(", ")}`;
}
