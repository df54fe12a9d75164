/** The commands of a hub's operator. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Grants } from "../../src/hub/grants.ts";
import { Invitations } from "../../src/hub/invitations.ts";
import { StateFile } from "../../src/hub/state_file.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { HubClient } from "../fixtures/hub_client.ts";
import { HubDoor } from "../fixtures/hub_door.ts";

/** A hub with one grant, and the way to run a command beside it. */
async function openWithGrant() {
  const hub = await HubDoor.open();
  const client = await HubClient.register(hub.url, { client_name: "Claude\u202e" });
  await client.consent(hub.resource("lab"), { code: hub.invite("lab"), rights: "confirm" });
  using file = StateFile.openExisting(hub.stateFile);
  const [grant] = new Grants(file).list();
  const run = (...words: string[]) => runHosted("hub.ts", [...words, "--state-file", hub.stateFile]);
  return { hub, id: grant?.id ?? "", run };
}

Deno.test("grants are listed, renamed, limited and revoked beside a hub that runs", async () => {
  const { hub, id, run } = await openWithGrant();
  await using _ = hub;
  const listed = await run("grants");
  assertStringIncludes(listed.stdout, `${id}  Claude\\u202e of ada: confirm in "lab"`, listed.stderr);
  assertMatch(listed.stdout, /returns to client\.example; ada consented .*; never used/);
  assertStringIncludes((await run("grants", "rename", id, "Ada's phone")).stdout, "Ada's phone");
  const limited = await run(
    "grants",
    "limit",
    id,
    "--rights",
    "read",
    "--office",
    "lab",
    "--computer",
    "desk",
    "--json",
  );
  const { client, rights, offices, computers } = JSON.parse(limited.stdout);
  assertEquals([client, rights, offices, computers], ["Ada's phone", "read", ["lab"], ["desk"]]);
  await hub.log.until(({ message }) => message === "a grant was changed by a command");
  assertStringIncludes((await run("grants", "revoke", id)).stdout, `Revoked ${id}`);
  assertEquals((await run("grants", "--json")).stdout.trim(), "[]");
});

Deno.test("a name that is nearly that of a known Computer is a warning, and no other is", async () => {
  const { hub, id, run } = await openWithGrant();
  await using _ = hub;
  const names = (computer: string) => [{ computer, tool: "echo", name: "echo" }];
  const gateways = [
    { offices: ["lab"], names: names("ada-laptop") },
    { offices: ["den"], names: names("attic") },
    {
      offices: ["den", "lab"],
      names: [],
      computers: [{ office: "lab", computer: "desk", name: "desk@lab" }],
    },
  ];
  await Deno.writeTextFile(
    `${hub.stateFile}.names.json`,
    JSON.stringify({ version: 1, names: [], gateways }),
  );
  const limit = (...words: string[]) => run("grants", "limit", id, ...words);
  for (const name of ["photos", "ada-laptop"]) {
    assertEquals((await run("invite", "lab", "--computer", name)).stderr, "");
  }
  const seen = ["ada-laptop", "desk", "photos"].flatMap((name) => ["--computer", name]);
  assertEquals((await limit(...seen)).stderr, "");
  const slip = await run("invite", "lab", "den", "--computer", "attci");
  assertEquals(slip.code, 0, slip.stderr);
  assertStringIncludes(slip.stderr, 'warning: no client has seen a tool of Computer "attci"');
  const invited = await run("invite", "lab", "--rights", "read", "--computer", "desk", "--json");
  const { code, rights, computers } = JSON.parse(invited.stdout);
  assertEquals([rights, computers], ["read", ["desk"]]);
  using file = StateFile.openExisting(hub.stateFile);
  const kept = new Invitations(file).find(code);
  assertEquals([kept?.rights, kept?.computers], ["read", ["desk"]]);
  const { stdout: told } = await run("invite", "lab", "--rights", "read", "--computer", "desk");
  assertStringIncludes(told, 'for "lab", at most read, Computers "desk"');
  const { stderr } = await limit("--computer", "desk", "--computer", "photos");
  assertEquals(stderr, "", "a grant knows its Computers");
});

Deno.test("a state file that cannot be changed is named, with what to do", async () => {
  const { hub, id, run } = await openWithGrant();
  await using _ = hub;
  {
    using db = new DatabaseSync(hub.stateFile);
    const full = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
    db.exec(`CREATE TRIGGER full BEFORE DELETE ON grants ${full}`);
  }
  const { code, stderr } = await run("grants", "revoke", id);
  assertEquals(code, 1);
  assertStringIncludes(
    stderr,
    `Cannot change the hub's state file "${hub.stateFile}": database or disk is full`,
  );
  assertStringIncludes(stderr, "stop the hub");
});

Deno.test("what a command cannot do is an error that says what to do, and changes nothing", async () => {
  const { hub, id, run } = await openWithGrant();
  await using _ = hub;
  const wrong = [
    [["grants", "limit", id, "--rights", "call"], "connect the client again"],
    [["grants", "limit", id, "--office", "den"], 'no rights in office "den"'],
    [["grants", "limit", id], "--rights, --office or --computer"],
    [["grants", "limit", id, "--rights", "admin"], "read, confirm, call"],
    [["grants", "revoke", id, "g_0"], `No grant named "g_0" (grants: ${id})`],
    [["grants", "rename", id, " "], "Cannot use name"],
    [["invite", "la\u202eb"], "Cannot use office"],
    [["invite", "lab", "--for", ""], "Cannot use name"],
    [["invite", "lab", ".."], "no path"],
    [["invite", "lab,den"], "no comma"],
    [["invite", "lab", "--port", "20313"], "Cannot use --port here"],
    [["grants", "--trust-proxy", "loopback"], "Cannot use --trust-proxy here"],
    [["invite"], "offices"],
    [["grant"], "grants"],
  ] as const;
  for (const [words, told] of wrong) {
    const { code, stderr } = await run(...words);
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, told);
  }
  const without = await runHosted("hub.ts", ["grants", "--state-file", `${hub.stateFile}.none`]);
  assertEquals([without.code, without.stderr.includes("no such file")], [2, true]);
  assertEquals(JSON.parse((await run("grants", "--json")).stdout).length, 1);
});
