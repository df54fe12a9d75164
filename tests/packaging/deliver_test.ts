// What a release sends to the registries, against stand-ins of their programs and servers: a second run sends nothing.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import manifest from "../../deno.json" with { type: "json" };
import { DOCUMENTS, GATEWAY, mcpName, toServerFiles } from "../../tools/mcp_servers.ts";
import { root, run } from "../../tools/deno.ts";
import { isWindows } from "../fixtures/system.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** Writes its words into `calls`. What it has sent before, `docker … inspect` and `gh release view` find. */
const COMMAND = `#!/bin/sh
case "$*" in
  *inspect*) grep -q -- "$4" "$CALLS" 2>/dev/null; exit ;;
  *view*) [ -n "$DRAFT" ] && echo true && exit; grep -q -- "create $3" "$CALLS" 2>/dev/null && echo false; exit ;;
esac
echo "$(basename "$0") $*" >> "$CALLS"
`;

/** A folder with what a release builds, and commands that only say that they were called. */
class Release implements Disposable {
  readonly #folder = new TempFolder();
  readonly path = join(this.#folder.path, "archives");
  readonly #calls = join(this.#folder.path, "calls");

  constructor(files: Readonly<Record<string, string>>) {
    Deno.mkdirSync(this.path);
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(join(this.path, name), text);
    for (const command of ["docker", "gh", "publisher"]) {
      Deno.writeTextFileSync(join(this.#folder.path, command), COMMAND, { mode: 0o755 });
    }
  }

  /** The output of one part. */
  async deliver(part: string, variables: Record<string, string>): Promise<string> {
    const PATH = `${this.#folder.path}:${Deno.env.get("PATH")}`;
    const words = ["run", "-A", join(root, "tools", "deliver.ts"), part, this.path];
    const output = await run(Deno.execPath(), words, root, { ...variables, PATH, CALLS: this.#calls });
    return `${output.stdout}${output.stderr}exit ${output.code}`;
  }

  get calls(): string[] {
    return Deno.readTextFileSync(this.#calls).trim().split("\n");
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

function serve(handler: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  return { url: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Serves files by `GET`, and keeps what comes by `PUT` as GitHub does: `writes` says of each from whom, why and where. */
function serveFiles(files: Map<string, string>, writes: string[] = []) {
  return serve(async (request) => {
    const { pathname } = new URL(request.url);
    const there = files.get(pathname);
    if (request.method === "PUT") {
      const { content, sha, message } = await request.json();
      if (sha !== (there === undefined ? undefined : `sha of ${there}`)) {
        return new Response("", { status: 409 });
      }
      files.set(pathname, content);
      writes.push(`${request.headers.get("authorization")} ${message} ${pathname}`);
    } else if (there === undefined) return Response.json({ message: "Not Found" }, { status: 404 });
    // GitHub breaks lines.
    return Response.json({ content: there?.replaceAll(/(.{4})/g, "$1\n"), sha: `sha of ${there}` });
  });
}

Deno.test("formula and bucket are written once, and again when they have changed", async () => {
  const [formula, bucket] = [
    "/repos/ada/homebrew-tap/contents/Formula/a2c-smcp.rb",
    "/repos/ada/scoop-bucket/contents/bucket/a2c-smcp.json",
  ];
  const files = new Map<string, string>();
  const writes: string[] = [];
  await using github = serveFiles(files, writes);
  using release = new Release({ "a2c-smcp.rb": "class A2c\n", "a2c-smcp.json": '{"version":1}' });
  const variables = { GITHUB_API_URL: github.url, GITHUB_REPOSITORY_OWNER: "ada", TAP_TOKEN: "t" };
  const first = await release.deliver("taps", variables);
  assertStringIncludes(first, "exit 0");
  const by = `Bearer t a2c-smcp ${manifest.version}`;
  assertEquals(writes, [`${by} ${formula}`, `${by} ${bucket}`]);
  assertEquals(files.get(formula), btoa("class A2c\n"));
  assertMatch(await release.deliver("taps", variables), /rb: is there already[^]*json: is there already/);
  Deno.writeTextFileSync(join(release.path, "a2c-smcp.rb"), "class A2cSmcp\n");
  assertMatch(await release.deliver("taps", variables), /rb: published[^]*json: is there already/);
  assertEquals([writes.length, files.get(formula)], [3, btoa("class A2cSmcp\n")]);
});

Deno.test("a registry that refuses ends the run with what it said, and a variable that is missing with its name", async () => {
  await using github = serve(() => new Response("busy", { status: 409 }));
  using release = new Release({ "a2c-smcp.rb": "class A2c\n" });
  const variables = { GITHUB_API_URL: github.url, GITHUB_REPOSITORY_OWNER: "ada", TAP_TOKEN: "t" };
  assertMatch(
    await release.deliver("taps", variables),
    /Cannot ask .*homebrew-tap.*: HTTP 409 busy[^]*exit 1/,
  );
  assertMatch(
    await release.deliver("taps", { ...variables, TAP_TOKEN: "" }),
    /variable TAP_TOKEN is not set/,
  );
});

Deno.test({
  name: "the MCP registry gets each server that it does not have",
  ignore: isWindows,
  fn: async () => {
    const path = `/v0/servers/${encodeURIComponent(mcpName(GATEWAY))}/versions/${manifest.version}`;
    await using registry = serveFiles(new Map([[path, ""]]));
    using release = new Release(Object.fromEntries(toServerFiles()));
    const output = await release.deliver("servers", { MCP_REGISTRY_URL: registry.url });
    assertStringIncludes(output, `${mcpName(GATEWAY)} ${manifest.version}: is there already`);
    assertStringIncludes(output, `${mcpName(DOCUMENTS)} ${manifest.version}: published`);
    assertEquals(release.calls, ["publisher login github-oidc", "publisher publish server-documents.json"]);
  },
});

Deno.test({
  name: "both images are built for both kinds of machines, and pushed once",
  ignore: isWindows,
  fn: async () => {
    using release = new Release({});
    const variables = { GITHUB_REPOSITORY: "ada/sdk", BASE: "debian:12-slim" };
    await release.deliver("images", variables);
    const [hub = "", documents = ""] = release.calls;
    for (
      const part of ["--platform linux/amd64,linux/arm64", "--sbom=true", "BASE=debian:12-slim", "--push"]
    ) {
      assertStringIncludes(hub, part);
    }
    const { version } = manifest;
    assertStringIncludes(hub, `--target hub --tag ghcr.io/ada/sdk:${version} --tag ghcr.io/ada/sdk:latest`);
    assertStringIncludes(documents, `--target documents --tag ghcr.io/ada/sdk/documents:${version}`);
    assertStringIncludes(await release.deliver("images", variables), `sdk:${version}: is there already`);
    assertEquals(release.calls.length, 2);
  },
});

Deno.test({
  name: "the release has all files of the folder, and is made once",
  ignore: isWindows,
  fn: async () => {
    using release = new Release({ "install.sh": "", "SHA256SUMS": "" });
    const variables = { GITHUB_REPOSITORY: "ada/sdk" };
    await release.deliver("release", { ...variables, DRAFT: "of a run that was stopped" });
    const [deleted, words = ""] = release.calls;
    assertMatch(deleted ?? "", /^gh release delete v[\d.]+ --repo ada\/sdk --yes$/);
    assertMatch(words, /^gh release create v[\d.]+ --repo ada\/sdk .* SHA256SUMS install\.sh$/);
    assertStringIncludes(await release.deliver("release", variables), "is there already");
    assertEquals(release.calls.length, 2);
  },
});
