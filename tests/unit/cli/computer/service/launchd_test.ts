import { assertEquals } from "@std/assert";
import { agentText } from "../../../../../src/cli/computer/service/launchd.ts";

/** A property list as Python reads it. */
async function readPlist(text: string): Promise<Record<string, unknown>> {
  const program = "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.argv[1].encode())))";
  const { stdout } = await new Deno.Command("python3", { args: ["-c", program, text], stderr: "inherit" })
    .output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test({
  name: "agentText() is a property list that starts the keeper at the sign-in, and again when it fails",
  // Nobody has Python there.
  ignore: Deno.build.os === "windows",
}, async () => {
  const words = ["/opt/homebrew/bin/deno", "run", "--token-command", `security -w "a & b" <x>`];
  const env = { PATH: "/usr/bin:/opt/<odd>&co" };
  assertEquals(
    await readPlist(agentText("a2c-smcp.computer.laptop", words, { env, folder: "/Users/ada/R&D" })),
    {
      Label: "a2c-smcp.computer.laptop",
      ProgramArguments: words,
      WorkingDirectory: "/Users/ada/R&D",
      EnvironmentVariables: env,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      ExitTimeOut: 20,
    },
  );
});
