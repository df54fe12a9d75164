import { assertEquals, assertThrows } from "@std/assert";
import {
  ClientMetadataError,
  Clients,
  hostOf,
  MAX_CLIENTS,
  parseClientMetadata,
  UNUSED_CLIENT_MS,
} from "../../../src/hub/clients.ts";
import { Grants } from "../../../src/hub/grants.ts";
import { GRANT, TestState } from "./_state.ts";

const METADATA = { client_name: "Claude", redirect_uris: ["https://claude.example/callback"] };

Deno.test("metadata is a name and redirects, whatever else a client asks for", () => {
  const asked = {
    ...METADATA,
    grant_types: ["implicit"],
    jwks_uri: "https://x.example",
    application_type: "web",
  };
  assertEquals(parseClientMetadata(asked), METADATA);
  const { redirect_uris } = METADATA;
  assertEquals(parseClientMetadata({ redirect_uris }).client_name, "claude.example");
});

Deno.test("redirects lead to https, to this machine or to an app", () => {
  const good = [
    "https://a.example/x",
    "http://127.0.0.1:5/x",
    "http://localhost/x",
    "http://[::1]:5/",
    "cursor://x/y",
    "vscode://x/y",
    "com.example.app:/y",
  ];
  for (const uri of good) assertEquals(parseClientMetadata({ redirect_uris: [uri] }).redirect_uris, [uri]);
  const bad = [
    "http://a.example/",
    "javascript:x",
    "https://a.example/#x",
    "https://u@a.example/",
    "https://localhost/",
    "mailto:ada@a.example",
    "ms-msdt:x",
    "search-ms:x",
    "intent:x",
    "chrome:x",
    "view-source:https://a.example/",
    "wss://a.example/",
    "blob:https://a.example/x",
    ".example:x",
    "com.:x",
  ];
  for (const uri of bad) {
    assertThrows(() => parseClientMetadata({ redirect_uris: [uri] }), ClientMetadataError, "redirect URI");
  }
});

Deno.test("a redirect is told as a host, the own machine, or an app", () => {
  assertEquals(hostOf("https://claude.example:8443/x"), "claude.example:8443");
  assertEquals(hostOf("http://127.0.0.1:33418/callback"), "localhost");
  assertEquals(hostOf("cursor://anysphere.cursor-mcp/oauth"), "the app for cursor://");
});

Deno.test("registrations that nobody uses are forgotten after a day, others are not", () => {
  using state = new TestState();
  const clients = new Clients(state.file, state.clock);
  const unused = clients.register(METADATA);
  const used = clients.register({ ...METADATA, client_name: "Cursor" });
  new Grants(state.file, state.clock).add({ ...GRANT, clientId: used });
  state.now += UNUSED_CLIENT_MS - 1;
  clients.prune();
  assertEquals(clients.find(unused)?.["client_name"], "Claude");
  state.now += 2;
  clients.prune();
  assertEquals([clients.find(unused), clients.find(used)?.["client_name"]], [undefined, "Cursor"]);
  assertEquals(clients.register(METADATA), unused);
});

Deno.test("the oldest unused registrations give way to new ones, and the used ones stay", () => {
  using state = new TestState();
  const clients = new Clients(state.file, state.clock);
  const used = clients.register(METADATA);
  new Grants(state.file, state.clock).add({ ...GRANT, clientId: used });
  const ids = state.file.transact(() =>
    Array.from({ length: MAX_CLIENTS - 1 }, (_, count) => {
      state.file.run(
        "INSERT INTO clients (id, metadata, used_at) VALUES (?, ?, ?)",
        `flood ${count}`,
        "{}",
        ++state.now,
      );
      return `flood ${count}`;
    })
  );
  const newest = clients.register({ ...METADATA, client_name: "newest" });
  const left = state.file.all("SELECT id FROM clients").map(({ id }) => id);
  assertEquals(left.length, MAX_CLIENTS);
  assertEquals([used, newest, ids[0], ids[1]].map((id) => left.includes(id ?? "")), [
    true,
    true,
    false,
    true,
  ]);
});
