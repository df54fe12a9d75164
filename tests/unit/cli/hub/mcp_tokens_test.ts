import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { ruleOf, TokenOwners } from "../../../../src/cli/hub/mcp_tokens.ts";
import { FileContentError } from "../../../../src/files/watched_files.ts";
import { AccessRefusal, type AccessRule } from "../../../../src/http/mcp/access.ts";
import { silentLogger } from "../../../../src/log.ts";
import { findToken, TokenFile } from "../../../../src/server/admission/tokens.ts";
import { eventually } from "../../../fixtures/within.ts";

async function withFile(text: string, work: (tokens: AccessRule) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, text);
    await using tokens = await TokenFile.open(path, { kind: "client" });
    await work(ruleOf(tokens));
  } finally {
    await Deno.remove(path);
  }
}

function shown(authorization?: string): Request {
  const headers = authorization === undefined ? [] : [["authorization", authorization]] as [string, string][];
  return new Request("http://hub/mcp", { headers });
}

Deno.test("a token file admits a client with what its line permits", async () => {
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
      endsCalls: true,
    });
    const { signal, ...two } = Object(await tokens.admit(shown("bearer two"), "http://hub/mcp"));
    assertEquals(two, {
      id: "token:phone",
      client: "phone",
      offices: ["lab", "den"],
      computers: ["laptop"],
      rights: "read",
      expiresAt: Date.parse("2999-01-01T23:59:59.999Z"),
      endsCalls: true,
    });
    assertEquals(signal.aborted, false);
  });
});

Deno.test("a token file refuses a missing, a wrong and an expired token, and says which", async () => {
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

Deno.test("a file of client tokens refuses attributes of members, and rights that there are not", async () => {
  for (const line of ["one roles=agent", "one rights=write", "one computers="]) {
    await assertRejects(
      () => withFile(`${line}\n`, () => Promise.resolve()),
      FileContentError,
      "line 1",
      line,
    );
  }
});

Deno.test("a token that two options of the hub give is refused by its place, and not quoted", async () => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("s3cret")));
  const hashed = { token: `sha256:${digest.toHex()}`, place: "line 2" };
  const owners = new TokenOwners();
  owners.claim("--token-file", [{ token: "s3cret", place: "line 1" }, { token: "other", place: "line 2" }]);
  owners.claim("--mcp-token-file", [{ token: "two", place: "line 1" }]);
  const error = assertThrows(
    () => owners.claim("--operator-token-file", [hashed]),
    FileContentError,
    "line 2 has a token of --token-file",
  );
  assertEquals(error.message.includes("s3cret"), false);
  // A file may give its own tokens again, and one that it has no more is free.
  owners.claim("--token-file", [{ token: "other", place: "line 1" }]);
  owners.claim("--operator-token-file", [hashed]);
});

Deno.test("a file that is changed to have a token of another option keeps its former tokens", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const owners = new TokenOwners();
    const open = async (option: string, kind: "member" | "client") => {
      const path = `${folder}/${kind}`;
      await Deno.writeTextFile(path, `${kind}-token\n`);
      const check = (tokens: readonly { token: string; place: string }[]) => owners.claim(option, tokens);
      return await TokenFile.open(path, { kind, check, checkIntervalMs: 10, logger: silentLogger });
    };
    await using members = await open("--token-file", "member");
    await using clients = await open("--mcp-token-file", "client");
    await Deno.writeTextFile(`${folder}/client`, "other\nmember-token\n");
    const problem = await eventually(
      () => clients.problem,
      (text) => text !== undefined,
      "the refusal of a file",
    );
    assertStringIncludes(problem ?? "", "line 2 has a token of --token-file");
    await Deno.writeTextFile(`${folder}/member`, "member-token\nclient-token\n");
    await eventually(() => members.problem, (text) => text !== undefined, "the refusal of a file");
    const found = [
      findToken(clients, "client-token"),
      findToken(clients, "other"),
      findToken(members, "client-token"),
    ];
    assertEquals(found.map((each) => each !== undefined), [true, false, false]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("TokenFile.open() calls a file of operators by its name", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, "token unknown=1\n");
  await assertRejects(() => TokenFile.open(path, { kind: "operator" }), Error, "operator token file");
  await Deno.remove(path);
});
