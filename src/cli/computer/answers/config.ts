/** `config check|show|undo`: the configuration of a Computer that runs. */
import { checkConfigSource } from "../../../config/check.ts";
import { printable, toSafeJson } from "../../../text/safe_text.ts";
import type { CommandAnswer } from "../../answers/answer.ts";
import { reportText, toReportJson, withOwnChecks } from "../check.ts";
import type { CommandContext } from "../hosted_computer.ts";
import { changeAnswer } from "./servers.ts";

/** Checks the configuration as it is written now, also when the Computer could not use it. */
export async function checkOwnConfig({ hosted }: CommandContext): Promise<CommandAnswer> {
  const { store, options: { name, protocolVersion: protocol, inputs: { file: inputs } } } = hosted;
  const file = store.file ?? "config";
  const report = await withOwnChecks(
    { name, protocol, inputs },
    (checks) => checkConfigSource(() => store.text(), { file, checks }),
  );
  return { value: toReportJson(report), text: printable(reportText(report)) };
}

/** Shows the configuration as the Agent may read it: secrets masked. */
export function showConfig({ hosted: { computer } }: CommandContext): CommandAnswer {
  const value = computer.config;
  return { value, text: toSafeJson(value, 2) };
}

/** Takes back the last edit that a command has made. */
export async function undoEdit({ hosted }: CommandContext): Promise<CommandAnswer> {
  return changeAnswer("the last edit is taken back", { hosted, change: await hosted.undo() });
}
