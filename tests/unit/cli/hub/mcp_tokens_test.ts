import { assertEquals, assertRejects } from "@std/assert";
import { McpTokenFile, requireSeparateTokens } from "../../../../src/cli/hub/mcp_tokens.ts";
import { UsageError } from "../../../../src/cli/outcome.ts";
import { AccessRefusal } from "../../../../src/http/mcp/access.ts";
import { silentLogger } from "../../../../src/log.ts";

async function withFile(text: string, work: (tokens: McpTokenFile) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, text);
    await using tokens = await McpTokenFile.open(path, silentLogger);
    await work(tokens);
  } finally {
    await Deno.remove(path);
  }
}

function shown(authorization?: string): Request {
  const headers = authorization === undefined ? [] : [["authorization", authorization]] as [string, string][];
  return new Request("http://hub/mcp", { headers });
}

Deno.test("McpTokenFile admits a client with what its line permits", async () => {
  const text = "one\ntwo name=phone offices=lab,den computers=laptop rights=read expires=2999-01-01\n";
  await withFile(text, async (tokens) => {
    const { signal: _, ...one } = Object(await tokens.admit(shown("Bearer one"), "http://hub/mcp"));
    assertEquals(one, {
      id: "token:token-1",
      client: "",
      offices: "all",
      computers: undefined,
      rights: "call",
      expiresAt: undefined,
    });
    const { signal, ...two } = Object(await tokens.admit(shown("bearer two"), "http://hub/mcp"));
    assertEquals(two, {
      id: "token:phone",
      client: "phone",
      offices: ["lab", "den"],
      computers: ["laptop"],
      rights: "read",
      expiresAt: Date.parse("2999-01-01T23:59:59.999Z"),
    });
    assertEquals(signal.aborted, false);
  });
});

Deno.test("McpTokenFile refuses a missing, a wrong and an expired token, and says which", async () => {
  await withFile("old expires=2020-01-01\nnew\n", async (tokens) => {
    const reasons = [];
    for (const header of [undefined, "Basic new", "Bearer newer", "Bearer old"]) {
      const answer = await tokens.admit(shown(header), "http://hub/mcp");
      if (answer instanceof AccessRefusal) reasons.push([answer.status, answer.log["reason"]]);
    }
    assertEquals(reasons, [[401, "no token"], [401, "no token"], [401, "wrong token"], [
      401,
      "expired token",
    ]]);
  });
});

Deno.test("McpTokenFile refuses attributes of members, and rights that there are not", async () => {
  for (const line of ["one roles=agent", "one rights=write", "one computers="]) {
    await assertRejects(() => withFile(`${line}\n`, () => Promise.resolve()), UsageError, "line 1", line);
  }
});

Deno.test("a token that two options of the hub give is refused by its place, and not quoted", async () => {
  const folder = await Deno.makeTempDir();
  const write = async (name: string, text: string) => {
    const path = `${folder}/${name}`;
    await Deno.writeTextFile(path, text);
    return path;
  };
  try {
    const tokenFile = await write("members", "s3cret name=pc roles=computer\nother\n");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("s3cret")));
    const hashed = await write("hashed", `one\nsha256:${digest.toHex()} name=claude\n`);
    const own = await write("own", "two offices=lab\n");
    await Deno.symlink(tokenFile, `${folder}/link`);
    await requireSeparateTokens({ token: ["zero"], tokenFile, mcpTokenFile: own });
    const refused = [
      [{ tokenFile, mcpTokenFile: tokenFile }, "it is the file of --token-file"],
      [{ tokenFile, operatorTokenFile: `${folder}/link` }, "it is the file of --token-file"],
      [{ mcpTokenFile: own, operatorTokenFile: own }, "it is the file of --mcp-token-file"],
      [{ tokenFile, mcpTokenFile: hashed }, "line 2 has a token of --token-file"],
      [{ token: ["s3cret"], operatorTokenFile: hashed }, "line 2 has a token of --token;"],
    ] as const;
    for (const [sources, told] of refused) {
      const error = await assertRejects(() => requireSeparateTokens(sources), UsageError, told);
      assertEquals(error.message.includes("s3cret"), false);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
