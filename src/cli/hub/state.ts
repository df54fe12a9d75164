/** Where a hub keeps its clients and grants. */
import { Option } from "commander";
import { UsageError } from "../outcome.ts";
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

/** @throws {UsageError} when none is given and there is no state folder. */
export function hubStateFile({ stateFile: given }: HubStateOptions): string {
  const path = given ?? stateFile("hub.sqlite");
  if (path !== undefined) return path;
  throw new UsageError("Cannot find the hub's state file: no state folder; give --state-file");
}
