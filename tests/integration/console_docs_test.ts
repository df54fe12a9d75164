import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { SmcpServer } from "../../server.ts";
import { Workplace } from "./_computer_program.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { canRun } from "../fixtures/system.ts";

const CLI = fromFileUrl(new URL("../../cli.ts", import.meta.url));
const PAGE = new URL("../../docs/console.md", import.meta.url);

/** Whether this machine has what the examples need. */
const hasCurl = Deno.build.os !== "windows" && canRun("curl", ["--version"]);

Deno.test({
  name: "the examples of docs/console.md run as they stand, one after another",
  ignore: !hasCurl,
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    const config = place.write("config.json", scriptedServers({ files: { tools: [{ name: "greet" }] } }));
    const address = ["--url", server.url, "--office", "lab", "--name", "laptop"];
    await using _computer = await place.serve([...address, "--config", config]);
    Deno.mkdirSync(`${place.folder}/bin`);
    const program = place.write(
      "bin/a2c-smcp",
      `#!/bin/sh\nexec ${Deno.execPath()} run -A --no-check ${CLI} "$@"\n`,
    );
    Deno.chmodSync(program, 0o700);
    const outputs = await run(place, examplesOf(await Deno.readTextFile(PAGE)));
    const [status, logs, call, list, events] = outputs;
    assertEquals(JSON.parse(status ?? "").name, "laptop");
    assertEquals(JSON.parse(logs ?? "").name, "files");
    assertEquals(JSON.parse(call ?? "").isError ?? false, false);
    assert(JSON.parse(list ?? "").some(({ path }: { path: string }) => path === "/api/calls/allow"));
    assert(events?.startsWith(": open"), events);
  },
});

function examplesOf(page: string): string[] {
  return [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, code = ""]) => code);
}

/** What each example prints, in one shell. */
async function run(place: Workplace, examples: readonly string[]): Promise<string[]> {
  const script = ["set -e", ...examples.map((code) => `${code}\nprintf '\\037'`)].join("\n");
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", script],
    env: { ...place.env, PATH: `${place.folder}/bin:${Deno.env.get("PATH")}` },
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert(text.endsWith("\u001f"), `${text}${new TextDecoder().decode(stderr)}`);
  return text.split("\u001f");
}
