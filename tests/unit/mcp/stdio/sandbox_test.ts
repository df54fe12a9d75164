import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigurationError } from "../../../../src/mcp/errors.ts";
import { sandboxed, type SandboxSystem, sandboxText } from "../../../../src/mcp/stdio/sandbox.ts";
import type { SandboxSettings } from "../../../../src/protocol/config.ts";

const system: SandboxSystem = {
  os: "linux",
  deno: "/bin/deno",
  bubblewrap: "/opt/bwrap",
  hidden: [],
  find: (command) => command === "nowhere" ? undefined : `/opt/${command}`,
  look: (path) =>
    path.startsWith("/no") ? undefined : { path: path.replace("/link", "/real"), kind: "folder" },
};

function plan(command: string, args: readonly string[], {
  sandbox = {},
  cwd,
  ...others
}: { readonly sandbox?: SandboxSettings; readonly cwd?: string } & Partial<SandboxSystem> = {}) {
  const env = { PATH: "/bin", HOME: "/home/ada", KEY: "k", TOKEN: "t" };
  const parts = { sandbox, own: ["KEY"], system: { ...system, ...others } };
  return sandboxed({ command, args, env, cwd }, parts);
}

/** What Deno runs, without its options. */
function run(command: string, args: readonly string[]): readonly string[] {
  const program = plan(command, args);
  assertEquals(program.command, "/bin/deno");
  return program.args.slice(program.args.findIndex((word) => word.startsWith("npm:")));
}

Deno.test("a package of npx runs in Deno, with its program and its arguments", () => {
  assertEquals(run("npx", ["-y", "pkg", "-y", "x"]), ["npm:pkg", "-y", "x"]);
  assertEquals(run("/usr/bin/npx", ["--yes", "@a/pkg@1.2.3"]), ["npm:@a/pkg@1.2.3"]);
  assertEquals(run("npx.cmd", ["-y", "-p", "pkg@latest", "tool", "x"]), ["npm:pkg@latest/tool", "x"]);
  assertEquals(run("npx", ["--package=pkg", "--", "tool"]), ["npm:pkg/tool"]);
});

Deno.test("the permissions of an entry that runs Deno are replaced by those of the sandbox", () => {
  assertEquals(run("deno", ["run", "-A", "--allow-read=/", "-y", "npm:@a/pkg@1/tool", "-A"]), [
    "npm:@a/pkg@1/tool",
    "-A",
  ]);
  const sandbox = { read: ["/a"], write: ["/w"], net: ["*"], env: ["TOKEN"], deny_read: ["/a/c"] };
  const { args } = plan("deno", ["run", "-A", "npm:pkg"], { sandbox });
  assertEquals(args.filter((word) => /^--(?:allow|deny)|^-A$/.test(word)), [
    "--allow-read=/a,/w",
    "--allow-write=/w",
    "--allow-net",
    "--allow-env=TOKEN,KEY",
    "--deny-read=/a/c",
    "--deny-write=/a/c",
  ]);
});

Deno.test("any other program runs in bubblewrap, with its own variables and those that are listed", () => {
  const program = plan("uvx", ["server"], { sandbox: { env: ["TOKEN"], read: ["/data"] } });
  assertEquals([program.command, program.cwd], ["/opt/bwrap", undefined]);
  assertEquals(program.args.slice(-3), ["--", "/opt/uvx", "server"]);
  assertEquals(Object.keys(program.env), ["PATH", "HOME", "KEY", "TOKEN"]);
  assertEquals(program.args.includes("--share-net"), false);
  assertEquals(plan("deno", ["run", "main.ts"]).command, "/opt/bwrap", "a file is no package");
});

Deno.test("what cannot be limited as it is written does not start, and says why", () => {
  const cases: [act: () => unknown, why: string][] = [
    [() => plan("uvx", [], { os: "darwin" }), "from npm"],
    [() => plan("uvx", [], { bubblewrap: undefined }), "apt-get install bubblewrap"],
    [() => plan("nowhere", []), 'no program "nowhere"'],
    [() => plan("deno", ["run", "npm:pkg"], { sandbox: { read: ["/a,b"] } }), 'with a comma: "/a,b"'],
    [() => plan("uvx", [], { sandbox: { net: ["a.example"] } }), 'limit "net" to hosts'],
    [() => plan("uvx", [], { cwd: "/work" }), 'add it to "read"'],
    [() => plan("npx", ["-c", "rm -rf ~"]), 'option "-c"'],
    [() => plan("npx", ["-y", "github:a/b"]), "no package of npm"],
    [() => plan("npx", ["-y", "../here"]), "no package of npm"],
    [() => plan("npx", ["-y"]), "name no package"],
    [() => plan("deno", ["run", "--config=x", "npm:pkg"]), 'option "--config=x"'],
    [() => plan("deno", ["run", "npm:../x"]), "no package of npm"],
    [() => plan("npx", ["pkg"], { sandbox: { deny_read: ["/a"] }, os: "darwin" }), "other names"],
    [() => plan("npx", ["pkg"], { sandbox: { deny_read: ["/a"], write: ["*"] } }), "can be moved"],
  ];
  for (const [act, why] of cases) assertThrows(act, ConfigurationError, why);
});

Deno.test({
  name: "what is denied is denied by all names that the entry gives it",
  ignore: Deno.build.os === "windows",
  fn() {
    const sandbox = { read: ["/link"], write: ["/real/w"], deny_read: ["/link/a", "/real/b", "/real/w/c"] };
    const { args } = plan("npx", ["pkg"], { sandbox });
    const names = ["/link/a", "/real/b", "/real/w/c", "/real/a", "/link/b", "/link/w/c"];
    assertEquals(args.filter((word) => word.startsWith("--deny-read")), [`--deny-read=${names.join()}`]);
    const wrapped = plan("uvx", [], { sandbox }).args.join(" ");
    for (const name of names.slice(1)) assertStringIncludes(wrapped, `--tmpfs ${name}`);
    const deep = { deny_read: ["/a/b/c"], write: ["/a"] };
    assertThrows(() => plan("npx", ["pkg"], { sandbox: deep }), ConfigurationError, "can be moved");
  },
});

Deno.test("sandboxText() says what a program can reach", () => {
  assertEquals(
    sandboxText({ read: ["*"], deny_read: ["/k"], net: ["a.example", "b.example"], run: ["git"] }),
    "reads all files but /k; writes nothing; connects to a.example, b.example; variables: nothing; " +
      "starts git, which are not limited",
  );
});
