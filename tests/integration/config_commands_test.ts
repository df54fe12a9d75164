import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";

const SECRET = "correct-horse-battery";
const SHOP = scripted({});
const PARAMETERS = { ...Object(SHOP["server_parameters"]), env: { API_TOKEN: SECRET } };

interface Scene {
  readonly file: string;
  readonly ask: (...words: string[]) => Promise<Record<string, unknown>>;
  /** The code of the error of a command. */
  readonly failure: (...words: string[]) => Promise<unknown>;
}

function testConfig(name: string, work: (scene: Scene) => Promise<void>): void {
  Deno.test({
    name,
    async fn() {
      using place = new Workplace();
      await using server = await SmcpServer.listen({ port: 0 });
      const file = place.write("config.json", {
        servers: { shop: { ...SHOP, server_parameters: PARAMETERS } },
      });
      const address = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", file];
      await using _computer = await place.serve([...address, "--no-watch"]);
      await work({
        file,
        ask: async (...words) => {
          const { code, stdout, stderr } = await place.run([...words, "--json"]);
          assertEquals([code, stderr], [0, ""], words.join(" "));
          return JSON.parse(stdout);
        },
        failure: async (...words) => {
          const { stderr } = await place.run([...words, "--json"]);
          return JSON.parse(stderr).error.code;
        },
      });
    },
  });
}

const ENTRY = JSON.stringify({ command: "no-such-command-anywhere", args: ["-y"] });

testConfig("a pasted entry is added, and taken back again", async ({ file, ask, failure }) => {
  assertEquals(await failure("config", "undo"), "STATE_CHANGED");
  const before = await Deno.readTextFile(file);
  // The entry is added, although its program is missing.
  await failure("server", "add", "pasted", ENTRY);
  const after = await Deno.readTextFile(file);
  assertStringIncludes(after, "no-such-command-anywhere");
  await ask("tool", "hide", "become");
  assertEquals((await ask("config", "undo"))["config"], file);
  assertEquals(await Deno.readTextFile(file), after);
  assertEquals((await ask("config", "undo"))["change"], {
    added: [],
    removed: ["pasted"],
    adopted: [],
    restarted: [],
  });
  assertEquals(await Deno.readTextFile(file), before);
  assertEquals(await failure("config", "undo"), "STATE_CHANGED");
});

testConfig("an edit is not taken back over another one", async ({ file, ask, failure }) => {
  await ask("tool", "hide", "become");
  const edited = `${await Deno.readTextFile(file)}\n`;
  await Deno.writeTextFile(file, edited);
  assertEquals(await failure("config", "undo"), "STATE_CHANGED");
  assertEquals(await Deno.readTextFile(file), edited);
});

testConfig("the config is checked as it is written, and shown without secrets", async ({ file, ask }) => {
  const fine = await ask("config", "check");
  assertEquals([fine["file"], fine["problems"], fine["failures"]], [file, [], []]);
  const shown = JSON.stringify(await ask("config", "show"));
  assertEquals([shown.includes(SECRET), shown.includes("API_TOKEN")], [false, true]);
  await Deno.writeTextFile(file, (await Deno.readTextFile(file)).replace('"stdio"', '"studio"'));
  const [problem] = (await ask("config", "check"))["problems"] as Record<string, unknown>[];
  assertEquals([problem?.["path"], problem?.["line"]], ["servers.shop.type", 4]);
});
