/** Attacker: an Agent. It looks for the values that an MCP server gets from a file of variables. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { ComputerOffice } from "../integration/_computer_office.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const SECRETS = ["value-of-the-variable", "value-of-the-file"];

Deno.test({
  name:
    "neither the configuration, nor an error, nor a line of the log tells what a file of variables has in it",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    using folder = new TempFolder();
    const [variable = "", single = ""] = SECRETS;
    await Deno.writeTextFile(join(folder.path, ".env"), `PLAIN_NAME=${variable}\n`);
    await Deno.writeTextFile(join(folder.path, "value.txt"), `${single}\n`);
    const line = 'echo "it is $PLAIN_NAME and $0" >&2; exit 3';
    const leaky = {
      command: "sh",
      args: ["-c", line, `\${file:${join(folder.path, "value.txt")}}`],
      envFile: join(folder.path, ".env"),
    };
    const echo = { name: "echo", inputSchema: { type: "object" } };
    await using office = await ComputerOffice.open({
      servers: { leaky, good: scripted({ tools: [echo] }, { allowed_tools: ["received", "become"] }) },
    });
    const state = office.computer.servers.get("leaky");
    const log = office.computer.serverLog("leaky").join("\n");
    assertStringIncludes(log, "it is *** and ***");
    const shown = JSON.stringify([
      await office.laptop.getConfig(),
      await office.laptop.getTools(),
      await office.laptop.callTool("echo"),
      state,
      log,
    ]);
    for (const secret of [...SECRETS, folder.path]) assert(!shown.includes(secret), `it shows ${secret}`);
    assertEquals((await office.laptop.getTools()).map(({ name }) => name).includes("echo"), false);
  },
});
