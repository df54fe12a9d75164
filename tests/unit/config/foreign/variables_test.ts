import { assertEquals } from "@std/assert";
import { normalize } from "@std/path";
import { parseConfig } from "../../../../src/config/config.ts";
import type { ConfigForm } from "../../../../src/config/form.ts";
import { Findings } from "../../../../src/config/problem.ts";
import { type ConfigOrigin, fillVariables } from "../../../../src/config/foreign/variables.ts";

const place: ConfigOrigin = { workspace: "/home/me/shop", home: "/home/me", cwd: "/work" };

function fill(text: string, form: ConfigForm = "vscode", origin: ConfigOrigin | undefined = place) {
  const findings = new Findings();
  const filled = fillVariables(text, { form, origin, path: ["x"], findings });
  return { filled, problems: findings.problems.length, warnings: findings.warnings.length };
}

Deno.test("variables of folders are filled in by the place of the file", () => {
  const text = "${workspaceFolder}|${workspaceFolderBasename}|${userHome}|${cwd}";
  for (const form of ["vscode", "mcpServers"] as const) {
    assertEquals(fill(text, form), { filled: "/home/me/shop|shop|/home/me|/work", problems: 0, warnings: 0 });
  }
  const separator = Deno.build.os === "windows" ? "\\" : "/";
  assertEquals(fill("a${/}b${pathSeparator}c").filled, `a${separator}b${separator}c`);
});

Deno.test("a variable of an unknown folder is a problem", () => {
  assertEquals(fill("${userHome}", "vscode", { workspace: "/w" }).problems, 1);
  assertEquals(
    fillVariables("${workspaceFolder}", {
      form: "vscode",
      origin: undefined,
      path: [],
      findings: new Findings(),
    }),
    "${workspaceFolder}",
  );
});

Deno.test("inputs and environment variables stay placeholders", () => {
  const text = "${input:a b} ${env:NAME} ${env:NAME:-x}";
  assertEquals(fill(text), { filled: text, problems: 0, warnings: 0 });
});

Deno.test("${NAME} is an environment variable in mcpServers, and unknown in VS Code", () => {
  assertEquals(fill("${A} ${B_1:-c d}", "mcpServers").filled, "${env:A} ${env:B_1:-c d}");
  assertEquals(fill("${A}"), { filled: "${A}", problems: 0, warnings: 1 });
});

Deno.test("a default with a variable in it is a problem", () => {
  assertEquals(fill("${A:-${B}}", "mcpServers").problems, 1);
  assertEquals(fill("${env:A:-${B}}").problems, 1);
});

Deno.test("a variable of an editor is a problem", () => {
  for (
    const name of [
      "config:a.b",
      "command:x.y",
      "workspaceFolder:other",
      "file",
      "relativeFile",
      "selectedText",
    ]
  ) {
    assertEquals(fill(`\${${name}}`).problems, 1, name);
  }
  assertEquals(fill("${config:a}", "mcpServers").problems, 1);
});

Deno.test("text without variables stays as it is", () => {
  for (const text of ["", "100%", "$5", "pa$$WORD", "a$B", "$home", "${", "a}b", "$(x)", "{x}"]) {
    assertEquals(fill(text), { filled: text, problems: 0, warnings: 0 });
  }
});

Deno.test("$NAME is filled in for programs that do so, and a warning for others", () => {
  for (const form of ["gemini", "copilot", "crush"] as const) {
    assertEquals(fill("Bearer $MY_TOKEN", form), {
      filled: "Bearer ${env:MY_TOKEN}",
      problems: 0,
      warnings: 0,
    });
    assertEquals(fill("${MY_TOKEN}", form).filled, "${env:MY_TOKEN}");
  }
  for (const form of ["vscode", "mcpServers", "zed", "codex", "amp"] as const) {
    assertEquals(fill("Bearer $MY_TOKEN", form), { filled: "Bearer $MY_TOKEN", problems: 0, warnings: 1 });
  }
  assertEquals(fill("${MY_TOKEN}", "zed").warnings, 1);
});

Deno.test("$(command) becomes an input that runs the command, which may contain parentheses", () => {
  const { servers: [server], inputs } = parseConfig({
    mcp: {
      a: {
        type: "http",
        url: "https://x/$(cat (1))",
        headers: { K: "Bearer $(gh auth token)", L: "$(gh auth token)" },
      },
    },
  });
  assertEquals(inputs.map((input) => input.type === "command" ? input.command : ""), [
    "cat (1)",
    "gh auth token",
  ]);
  assertEquals(
    server?.type === "streamable" && [server.server_parameters.url, server.server_parameters.headers],
    [
      "https://x/${input:command-1}",
      { K: "Bearer ${input:command-2}", L: "${input:command-2}" },
    ],
  );
});

Deno.test("shell variables in the arguments of a shell are kept without a warning", () => {
  const { warnings } = parseConfig({
    mcpServers: { a: { command: "/bin/sh", args: ["-c", "exec $HOME/server"] } },
  });
  assertEquals(warnings, []);
  const { servers: [server] } = parseConfig({
    mcp: { a: { type: "stdio", command: "sh", args: ["-c", "for f in $DIR/*; do run $f $1; done"] } },
  });
  assertEquals(
    server?.type === "stdio" && server.server_parameters.args[1],
    "for f in ${env:DIR:-$DIR}/*; do run ${env:f:-$f} $1; done",
  );
});

Deno.test("a file placeholder gets the full path of the file", () => {
  assertEquals(
    fill("{file:./token.txt}", "opencode").filled,
    "${file:" + normalize("/home/me/shop/token.txt") + "}",
  );
  assertEquals(
    fill("{file:~/token.txt} {env:A}", "opencode").filled,
    "${file:" + normalize("/home/me/token.txt") + "} ${env:A}",
  );
  assertEquals(fill("${file:/etc/token}").filled, "${file:/etc/token}");
});
