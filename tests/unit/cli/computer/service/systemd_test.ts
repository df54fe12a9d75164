import { assertEquals, assertThrows } from "@std/assert";
import { unitText } from "../../../../../src/cli/computer/service/systemd.ts";
import { UsageError } from "../../../../../src/cli/outcome.ts";

const PLAN = {
  name: "laptop",
  command: ["/opt/my deno/deno", "run", "-A"],
  words: ["--token-command", `printf "%s" '$TOKEN' \\`],
  env: { PATH: "/usr/bin:/home/ada/50% off" },
  folder: "/home/ada/my work",
};

Deno.test("unitText() quotes words, and escapes what systemd would replace", () => {
  const lines = unitText(PLAN).split("\n");
  const start = `"/opt/my deno/deno" "run" "-A" "--token-command" "printf \\"%%s\\" '$$TOKEN' \\\\"`;
  assertEquals(lines.find((line) => line.startsWith("ExecStart=")), `ExecStart=${start}`);
  assertEquals(lines.includes('Environment="PATH=/usr/bin:/home/ada/50%% off"'), true);
  assertEquals(lines.includes("WorkingDirectory=/home/ada/my work/"), true);
});

Deno.test("unitText() refuses a line break, which would begin another setting", () => {
  assertThrows(
    () => unitText({ ...PLAN, words: ["a\nExecStartPre=evil"] }),
    UsageError,
    "line break",
  );
  assertThrows(() => unitText({ ...PLAN, folder: "/a\nb" }), UsageError, "line break");
});

Deno.test("unitText() ends no line with a backslash, which would take the next one in", () => {
  const unit = unitText({ ...PLAN, name: "evil\\", folder: "/home/ada\\" });
  assertEquals(unit.split("\n").filter((line) => line.endsWith("\\")), []);
});
