/** A Computer as an agent of launchd, which starts our keeper after the sign-in, and again if the keeper dies. */
import { join } from "@std/path";
import { replacePrivateFile } from "../../../files/files.ts";
import { requireTool, runTool } from "../../system_tool.ts";
import { keeperWords, printKeeperLog, readKeeperState } from "./keeper.ts";
import type { ServicePlan } from "./plan.ts";
import { AT_SIGN_IN, requireVariable, serviceFile, type ServiceSystem, xmlText } from "./system.ts";

export function openLaunchd(): ServiceSystem {
  const fileName = ["a2c-smcp.computer.", ".plist"] as const;
  const place = { folder: join(requireVariable("HOME"), "Library", "LaunchAgents"), fileName };
  const domain = `gui/${Deno.uid()}`;
  const target = (id: string) => `${domain}/${fileName[0]}${id}`;
  const end = async (id: string) => void await runTool("launchctl", ["bootout", target(id)]);
  return {
    ...place,
    title: "launchd",
    async install(id, plan) {
      await end(id);
      await replacePrivateFile(
        serviceFile(place, id),
        agentText(`${fileName[0]}${id}`, keeperWords(id, plan), plan),
      );
      // An earlier "launchctl disable" would outlive the file.
      await runTool("launchctl", ["enable", target(id)]);
      await requireTool("launchctl", "bootstrap", domain, serviceFile(place, id));
    },
    async remove(id) {
      await end(id);
      await Deno.remove(serviceFile(place, id));
    },
    stateOf: readKeeperState,
    startText: () => Promise.resolve(AT_SIGN_IN),
    restartLine: (id) => `launchctl kickstart -k ${target(id)}`,
    printLogs: printKeeperLog,
  };
}

/** The property list of an agent. */
export function agentText(
  label: string,
  words: readonly string[],
  { env, folder }: Pick<ServicePlan, "env" | "folder">,
): string {
  const text = (value: string) => `<string>${xmlText(value)}</string>`;
  const variables = Object.entries(env).map(([name, value]) => `<key>${xmlText(name)}</key>${text(value)}`);
  // The keeper ends with success when the Computer has ended for good.
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(label)}
  <key>ProgramArguments</key>
  <array>
    ${words.map(text).join("\n    ")}
  </array>
  <key>WorkingDirectory</key>${text(folder)}
  <key>EnvironmentVariables</key>
  <dict>
    ${variables.join("\n    ")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>20</integer>
</dict>
</plist>
`;
}
