/** Where a hub keeps its clients and grants. */
import { Option } from "commander";
import { stateFile } from "../state_folder.ts";

export interface HubStateOptions {
  readonly stateFile?: string;
}

export function stateFileOption(): Option {
  return new Option(
    "--state-file <file>",
    "where the hub keeps its clients and grants (default: hub.sqlite in your state folder)",
  ).env("A2C_HUB_STATE_FILE");
}

/** The path; `undefined` when none is given, and there is no state folder. */
export function hubStateFile({ stateFile: given }: HubStateOptions): string | undefined {
  return given ?? stateFile("hub.sqlite");
}
