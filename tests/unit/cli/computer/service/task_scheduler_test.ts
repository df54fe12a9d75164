import { assertEquals } from "@std/assert";
import { taskText, windowsWord } from "../../../../../src/cli/computer/service/task_scheduler.ts";

/** The words of a command line by the rules of Windows' `CommandLineToArgvW`. */
function splitWindowsLine(line: string): string[] {
  const words: string[] = [];
  for (let i = 0; i < line.length;) {
    while (line[i] === " ") i++;
    let word = "";
    let isQuoted = false;
    for (; i < line.length && (isQuoted || line[i] !== " "); i++) {
      const slashes = /^\\*/.exec(line.slice(i))?.[0].length ?? 0;
      if (line[i + slashes] !== '"') word += line[i];
      else {
        word += "\\".repeat(slashes / 2) + (slashes % 2 === 1 ? '"' : "");
        if (slashes % 2 === 0) isQuoted = !isQuoted;
        i += slashes;
      }
    }
    words.push(word);
  }
  return words;
}

/** The texts of some elements, and the names of the settings, as Python reads the XML. */
async function readTask(text: string): Promise<Record<string, string>> {
  const program = `import json, sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.argv[1].encode("utf-16"))
print(json.dumps({e.tag.split("}")[1]: (e.text or "").strip() for e in root.iter()}))`;
  const { stdout } = await new Deno.Command("python3", { args: ["-c", program, text], stderr: "inherit" })
    .output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

const WORDS = [
  "C:\\Program Files\\deno.exe",
  "run",
  "-A",
  "",
  "C:\\my folder\\",
  'say "a & <b>"',
  'tail\\"',
  "\\\\host\\x",
];

Deno.test("windowsWord() writes a word that programs of Windows read unchanged", () => {
  assertEquals(splitWindowsLine(WORDS.map(windowsWord).join(" ")), WORDS);
});

Deno.test({
  name: "taskText() starts the keeper at the sign-in of one user, without a window and without an end",
  // Nobody has Python there.
  ignore: Deno.build.os === "windows",
}, async () => {
  const task = await readTask(taskText(WORDS, { user: "OFFICE\\ada", folder: "C:\\Users\\ada\\R&D" }));
  assertEquals(task["Command"], "conhost.exe");
  assertEquals(splitWindowsLine(task["Arguments"] ?? ""), ["--headless", ...WORDS]);
  const { UserId, LogonType, RunLevel, ExecutionTimeLimit, DisallowStartIfOnBatteries, Interval } = task;
  assertEquals([UserId, LogonType, RunLevel], ["OFFICE\\ada", "InteractiveToken", "LeastPrivilege"]);
  assertEquals([ExecutionTimeLimit, DisallowStartIfOnBatteries, Interval], ["PT0S", "false", "PT1M"]);
  assertEquals(task["WorkingDirectory"], "C:\\Users\\ada\\R&D");
});
