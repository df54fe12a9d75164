import { assertEquals, assertStringIncludes } from "@std/assert";

const root = new URL("../../../../", import.meta.url);

/** Runs the check of a file in a process of its own. */
async function check(
  file: string,
  options = "{}",
): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = decodeURIComponent(new URL(`tests/fixtures/configs/${file}`, root).pathname);
  const code = `
    import { runCheck } from "${new URL("src/computer/cli/check.ts", root)}";
    try { await runCheck(${
    JSON.stringify(path)
  }, ${options}); } catch (error) { Deno.exit(error.exitCode ?? 99); }`;
  const output = await new Deno.Command(Deno.execPath(), { args: ["eval", "--no-check", code], cwd: root })
    .output();
  const decoder = new TextDecoder();
  return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

Deno.test("a config that can be used is printed as a report, with exit code 0", async () => {
  const { code, stdout } = await check("cline.json");
  assertEquals(code, 0);
  assertStringIncludes(stdout, "cline.json: mcpServers (Claude, Cursor …), 2 servers");
  assertStringIncludes(stdout, "wiki     streamable  disabled");
  assertStringIncludes(stdout, "ready to use, 1 warning");
  assertEquals(stdout.includes("made-up-token"), false);
});

Deno.test("a config that cannot be used ends with exit code 2, as JSON where that was asked for", async () => {
  const { code, stdout } = await check("none.json", "{ json: true }");
  assertEquals(code, 2);
  assertEquals(JSON.parse(stdout).problems, [{ message: "no such file", path: "" }]);
});
