/** A server's parameters as it would start with them now, for the eyes of whoever owns the Computer. */
import type { MCPServerConfig, MCPServerInput } from "../../protocol/config.ts";
import { maskSecretParameters } from "./local_masking.ts";
import { MASK } from "./masking.ts";
import { fillPlaceholders, type InputValue } from "../../config/placeholders.ts";

/** Where the values come from. */
export interface RenderContext {
  readonly inputs: readonly MCPServerInput[];
  /** The value that an input has without asking anybody or running anything. */
  readonly peek: (input: MCPServerInput) => Promise<InputValue | undefined>;
}

/**
 * Fills in what is known and no secret. Passwords and the output of commands are masked, as are headers, what a URL
 * carries and the values of whatever is named like a secret; what has no value, and variables of the environment, stay
 * as written.
 */
export async function renderParameters(
  server: MCPServerConfig,
  { inputs, peek }: RenderContext,
): Promise<unknown> {
  const values = new Map<string, InputValue>();
  for (const input of inputs) {
    const value = isSecret(input) ? MASK : await peek(input);
    if (value !== undefined) values.set(`\${input:${input.id}}`, value);
  }
  return fillPlaceholders(maskSecretParameters(server), values);
}

function isSecret(input: MCPServerInput): boolean {
  return input.type === "command" || (input.type === "promptString" && input.password === true);
}
