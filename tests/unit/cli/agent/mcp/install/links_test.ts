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
