/**
 * What commands have done, for the audit trail: they are other programs and have no trail of their own, so they leave a line
 * in the state file, and the hub takes it from there, at its next start where it does not run.
 */
import { isRecord, parseJson } from "../json/json.ts";
import type { LogFields } from "../log.ts";
import type { StateFile } from "./state_file.ts";

/** The most lines that wait for a hub; the oldest one gives way. */
const MAX_LINES = 1_000;

export interface CommandLine {
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps a line until the hub has told it. */
export function noteCommand(file: StateFile, line: CommandLine): void {
  file.run("INSERT INTO commands (line) VALUES (?)", JSON.stringify(line));
  file.run("DELETE FROM commands WHERE id <= (SELECT max(id) FROM commands) - ?", MAX_LINES);
}

/** The lines after one, the oldest first. */
export function readCommands(
  file: StateFile,
  after: number,
): readonly (CommandLine & { readonly id: number })[] {
  return file.all("SELECT id, line FROM commands WHERE id > ? ORDER BY id", after).flatMap((row) => {
    const read = parseJson(String(row["line"]));
    const { message, fields } = isRecord(read) ? read : {};
    return typeof message === "string" && isRecord(fields)
      ? [{ id: Number(row["id"]), message, fields }]
      : [];
  });
}

/** Removes the lines up to one. */
export function forgetCommands(file: StateFile, last: number): void {
  file.run("DELETE FROM commands WHERE id <= ?", last);
}
