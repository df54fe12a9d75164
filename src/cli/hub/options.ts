/** The options of the hub: those of a Server, and its own. */
import { Option } from "commander";
import type { PresentingOptions } from "../gateway_options.ts";
import type { ResourceServerOptions } from "../resource_server.ts";
import type { ServerCliOptions } from "../server/options.ts";
import { stateFile } from "../../files/state_folder.ts";

export type HubOptions = ServerCliOptions & HubStateOptions & ResourceServerOptions & PresentingOptions & {
  /** An origin. */
  readonly publicUrl?: string;
  readonly mcpTokenFile?: string;
  readonly operatorTokenFile?: string;
  readonly hubName: string;
};

/** Where the hub keeps its clients and grants: an option of its commands as well. */
export interface HubStateOptions {
  readonly stateFile?: string;
}

export function stateFileOption(): Option {
  return new Option(
    "--state-file <file>",
    "where the hub keeps its clients and grants (default: hub.sqlite in your state folder)",
  ).env("A2C_HUB_STATE_FILE");
}

/** Where a hub keeps the names of tools, beside its state. */
export function toolNamesFile(stateFile: string): string {
  return `${stateFile}.names.json`;
}

/** The path for a hub; `undefined` when none is given, and there is no state folder. */
export function hubStateFile({ stateFile: given }: HubStateOptions): string | undefined {
  return given ?? stateFile("hub.sqlite");
}
