/** Attacker: the file of an MCP client. It holds secrets of other programs, and its client writes it at the same time */
import { assertEquals, assertRejects } from "@std/assert";
import { clientOf } from "../../src/cli/agent/mcp/install/clients.ts";
import { writeClientFile } from "../../src/cli/agent/mcp/install/install.ts";
import { UsageError } from "../../src/cli/outcome.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const ENTRY = '"a2c": { "command": "deno", "args": ["run"] }';

Deno.test("what a client has written meanwhile is not overwritten", async () => {
  const file = await Deno.makeTempFile();
  try {
    const client = { ...clientOf("claude-code"), file };
    await Deno.writeTextFile(file, '{"new":1}');
    await assertRejects(
      () => writeClientFile(client, { before: "{}", after: `{"mcpServers":{${ENTRY}}}` }),
      UsageError,
      "meanwhile",
    );
    assertEquals(await Deno.readTextFile(file), '{"new":1}');
    await writeClientFile(client, { before: '{"new":1}', after: "{}" });
    assertEquals(await Deno.readTextFile(file), "{}");
  } finally {
    await Deno.remove(file);
    await Deno.remove(`${file}.before-a2c`).catch(() => undefined);
  }
});

Deno.test("a link to nothing is not replaced by a file", async () => {
  using folder = new TempFolder();
  const file = `${folder.path}/link`;
  await Deno.symlink(`${folder.path}/nothing`, file);
  const client = { ...clientOf("claude-code"), file };
  await assertRejects(
    () => writeClientFile(client, { before: undefined, after: "{}" }),
    UsageError,
    "link",
  );
  assertEquals((await Deno.lstat(file)).isSymlink, true);
});
