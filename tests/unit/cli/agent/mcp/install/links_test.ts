import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../../../../src/cli/outcome.ts";
import { type ClientEntry, entryUrl } from "../../../../../../src/cli/agent/mcp/install/entry.ts";
import {
  installLink,
  LINK_CLIENTS,
  type LinkClient,
} from "../../../../../../src/cli/agent/mcp/install/clients.ts";

const DOCS = new URL("../../../../../../docs/clients.md", import.meta.url);

/** What a client reads of its link, by its documentation. */
function decode(
  link: string,
): { readonly client: LinkClient; readonly name: unknown; readonly entry: unknown } {
  if (link.startsWith("vscode:mcp/install?")) {
    const { name, ...entry } = JSON.parse(decodeURIComponent(link.slice("vscode:mcp/install?".length)));
    return { client: "vscode", name, entry };
  }
  const { protocol, host, pathname, searchParams } = new URL(link);
  const place = `${protocol}//${host}${pathname}`;
  const client = new Map<string, LinkClient>([
    ["cursor://anysphere.cursor-deeplink/mcp/install", "cursor"],
    ["lmstudio://add_mcp", "lmstudio"],
  ]).get(place);
  if (client === undefined) throw new TypeError(`Cannot decode ${place}`);
  const bytes = Uint8Array.fromBase64(searchParams.get("config") ?? "");
  return { client, name: searchParams.get("name"), entry: JSON.parse(new TextDecoder().decode(bytes)) };
}

const PROGRAM: ClientEntry = { command: "/usr/bin/deno", args: ["run", "--office", "Büro & lab", "a+b=c"] };
const REMOTE: ClientEntry = { url: "https://hub.example.com/mcp/o/B%C3%BCro" };

Deno.test("a link has the entry as its client reads it", () => {
  const name = "office & lab";
  for (const client of LINK_CLIENTS) {
    for (const entry of [PROGRAM, REMOTE]) {
      const type = "url" in entry ? "http" : "stdio";
      const expected = client === "vscode" ? { type, ...entry } : entry;
      assertEquals(decode(installLink(client, { name, entry })), { client, name, entry: expected });
    }
  }
});

Deno.test("the URL of an entry or a link is http or https, names a path, and holds no password", () => {
  assertEquals(entryUrl("https://hub.example.com/mcp/o/a b"), "https://hub.example.com/mcp/o/a%20b");
  for (
    const url of [
      "lab",
      "javascript:alert(1)",
      "file:///etc/passwd",
      "https://ada:s3cret@hub.example.com/mcp",
      "https://hub.example.com",
    ]
  ) {
    assertThrows(() => entryUrl(url), UsageError);
  }
});

Deno.test("the links of the documentation add the hub of the documentation", async () => {
  const text = await Deno.readTextFile(DOCS);
  const links = text.match(/^(?:cursor|vscode|lmstudio):\S+$/gm) ?? [];
  const entry = { url: "https://hub.example.com/mcp/o/lab" };
  assertEquals(links.map(decode), [
    { client: "cursor", name: "a2c", entry },
    { client: "vscode", name: "a2c", entry: { type: "http", ...entry } },
    { client: "lmstudio", name: "a2c", entry },
  ]);
});

/** What a client reads of a link of the documentation that goes by its web site, since many pages show no other links. */
function decodeWebLink(link: string) {
  const { host, searchParams } = new URL(link);
  const config = searchParams.get("config") ?? "";
  const isPlain = host === "vscode.dev";
  return {
    host,
    name: searchParams.get("name"),
    entry: JSON.parse(isPlain ? config : new TextDecoder().decode(Uint8Array.fromBase64(config))),
    inputs: JSON.parse(searchParams.get("inputs") ?? "[]"),
  };
}

Deno.test("the documentation's links to our MCP servers start them by npx, and ask for what only the user knows", async () => {
  const text = await Deno.readTextFile(DOCS);
  const links = Array.from(
    text.matchAll(/\((https:[^)]+[?&]config=[^)]+)\)/g),
    ([, link = ""]) => decodeWebLink(link),
  );
  assertEquals(
    links.map(({ host, name }) => [host, name]),
    ["vscode.dev", "cursor.com", "lmstudio.ai"].flatMap((host) => [[host, "documents"], [host, "a2c"]]),
  );
  for (const { name, entry, inputs } of links) {
    const words = name === "documents" ? ["@a2c-smcp/documents"] : ["a2c-smcp", "agent", "mcp"];
    assertEquals([entry.command, entry.args.slice(0, words.length + 1)], ["npx", ["-y", ...words]]);
    const asked = JSON.stringify(entry).match(/(?<=\$\{input:)\w+/g) ?? [];
    assertEquals(inputs.map(({ id }: { readonly id: string }) => id), asked);
    if (name === "a2c") {
      assertEquals(Object.keys(entry.env), ["A2C_URL", "A2C_OFFICE", "A2C_NAME", "A2C_TOKEN"]);
      // A link is passed on.
      assertEquals(["", "${input:token}"].includes(entry.env.A2C_TOKEN), true);
    }
  }
});
