/** Attacker: the file of an MCP client. It holds secrets of other programs, and its client writes it at the same time */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { clientOf } from "../../src/cli/agent/mcp/install/clients.ts";
import { changeText, writeClientFile } from "../../src/cli/agent/mcp/install/install.ts";
import { UsageError } from "../../src/cli/outcome.ts";

const ENTRY = '"a2c": { "command": "deno", "args": ["run"] }';

Deno.test("what is shown of a change has nothing of the lines around it, nor of the rest of a long line", () => {
  const files = [
    [
      '{"servers":{"other":{"env":{"K":"S3CRET"}}},"z":"S3CRET"}',
      `{"servers":{"other":{"env":{"K":"S3CRET"}}, ${ENTRY}},"z":"S3CRET"}`,
    ],
    [
      '{\n  "servers": {\n    "other": { "env": { "K": "S3CRET" } }\n  }\n}',
      `{\n  "servers": {\n    "other": { "env": { "K": "S3CRET" } },\n    ${ENTRY}\n  }\n}`,
    ],
    ['{"K":"S3CRET"}', `{"K":"S3CRET", "servers": {${ENTRY}}}`],
    ["k = 'S3CRET'\n", "k = 'S3CRET'\n\n[servers.a2c]\ncommand = \"deno\"\n"],
  ];
  for (const [before = "", after = ""] of files) {
    for (const shown of [changeText(before, after), changeText(after, before)]) {
      assert(!shown.includes("S3CRET"), shown);
      assert(shown.includes("a2c") && shown.includes("deno"), shown);
    }
  }
});

Deno.test("a text that changes is shown whole", () => {
  assertEquals(changeText('[\n  "lab"\n]', '[\n  "lab2"\n]'), '  -   "lab"\n  +   "lab2"');
});

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
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/link`;
    await Deno.symlink(`${folder}/nothing`, file);
    const client = { ...clientOf("claude-code"), file };
    await assertRejects(
      () => writeClientFile(client, { before: undefined, after: "{}" }),
      UsageError,
      "link",
    );
    assertEquals((await Deno.lstat(file)).isSymlink, true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
