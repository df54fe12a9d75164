/** What a new configuration of a Computer changes. */
import { isDeepStrictEqual } from "node:util";
import type { ComputerConfig } from "../config/config.ts";

/** The MCP servers that a new configuration changed, by name. */
export interface ConfigChange {
  /** Servers that are new. */
  readonly added: readonly string[];
  /** Servers that were removed. */
  readonly removed: readonly string[];
  /**
   * Servers that were restarted, because their transport, parameters, script, inputs or sign-in changed, or what is
   * settled at their start: the versions of MCP, and whether they may ask or show pages.
   */
  readonly restarted: readonly string[];
  /** Servers of which only other settings changed, such as those of tools; their sessions go on. */
  readonly adopted: readonly string[];
}

/** Whether two configurations look the same to an Agent; warnings do not count. */
export function isSameConfig(one: ComputerConfig, other: ComputerConfig): boolean {
  return isDeepStrictEqual([one.servers, one.inputs], [other.servers, other.inputs]);
}

/** The ids of inputs that were added, removed, or changed in more than their description. */
export function changedInputs(before: ComputerConfig, after: ComputerConfig): Set<string> {
  const definitions = ({ inputs }: ComputerConfig) =>
    new Map(inputs.map((input) => [input.id, { ...input, description: "" }]));
  const [old, next] = [definitions(before), definitions(after)];
  const ids = new Set(old.keys()).union(new Set(next.keys()));
  return new Set([...ids].filter((id) => !isDeepStrictEqual(old.get(id), next.get(id))));
}
