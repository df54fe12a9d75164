/** A Computer as a task of Windows, which starts our keeper at the sign-in and without a window. */
import { replacePrivateFile } from "../../../files/files.ts";
import { stateFolder } from "../../../files/state_folder.ts";
import { requireTool, runTool } from "../../system_tool.ts";
import { keeperWords, printKeeperLog, readKeeperState } from "./keeper.ts";
import { AT_SIGN_IN, requireVariable, serviceFile, type ServiceSystem, xmlText } from "./system.ts";

export function openTaskScheduler(): ServiceSystem {
  const place = {
    folder: stateFolder() ?? requireVariable("LOCALAPPDATA"),
    fileName: ["service-", ".xml"],
  } as const;
  const taskOf = (id: string) => `\\A2C-SMCP\\computer-${id}`;
  const end = async (id: string) => void await runTool("schtasks", ["/end", "/tn", taskOf(id)]);
  return {
    ...place,
    title: "Task Scheduler",
    async install(id, plan) {
      await end(id);
      const user = `${requireVariable("USERDOMAIN")}\\${requireVariable("USERNAME")}`;
      const file = serviceFile(place, id);
      await replacePrivateFile(file, toUtf16(taskText(keeperWords(id, plan), { user, folder: plan.folder })));
      await requireTool("schtasks", "/create", "/f", "/tn", taskOf(id), "/xml", file);
      await requireTool("schtasks", "/run", "/tn", taskOf(id));
    },
    async remove(id) {
      await end(id);
      const task = ["/tn", taskOf(id)];
      const { code } = await runTool("schtasks", ["/query", ...task]);
      if (code === 0) await requireTool("schtasks", "/delete", "/f", ...task);
      await Deno.remove(serviceFile(place, id));
    },
    stateOf: readKeeperState,
    startText: () => Promise.resolve(AT_SIGN_IN),
    restartLine: (id) => `schtasks /run /tn ${taskOf(id)}`,
    printLogs: printKeeperLog,
  };
}

/** The task in the form of `schtasks /create /xml`, version 1.2 of its schema. */
export function taskText(
  words: readonly string[],
  { user, folder }: { readonly user: string; readonly folder: string },
): string {
  const userId = `<UserId>${xmlText(user)}</UserId>`;
  // `conhost --headless` gives a program of the console a console without a window. Without the limit PT0S, a task is
  // ended after three days.
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>A2C-SMCP Computer</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled>${userId}</LogonTrigger></Triggers>
  <Principals><Principal id="Author">
    ${userId}<LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel>
  </Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author"><Exec>
    <Command>conhost.exe</Command>
    <Arguments>${xmlText(["--headless", ...words].map(windowsWord).join(" "))}</Arguments>
    <WorkingDirectory>${xmlText(folder)}</WorkingDirectory>
  </Exec></Actions>
</Task>
`;
}

/** A word as programs of Windows split their command line. */
export function windowsWord(word: string): string {
  if (/^[^\s"]+$/.test(word)) return word;
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

/** In the encoding that `schtasks` writes itself. */
function toUtf16(text: string): Uint8Array {
  const marked = `\uFEFF${text}`;
  const units = Uint16Array.from({ length: marked.length }, (_, index) => marked.charCodeAt(index));
  return new Uint8Array(units.buffer);
}
