import { assertEquals } from "@std/assert";
import { createAdapter } from "../../../src/hub/artifacts.ts";
import { Clients } from "../../../src/hub/clients.ts";
import { findAccessToken, Grants } from "../../../src/hub/grants.ts";
import { GRANT, TestState } from "./_state.ts";

/** The store of tokens of one kind. */
function tokens(state: TestState, kind: string, revoke: (grant: string) => void = () => undefined) {
  return createAdapter(kind, {
    file: state.file,
    clients: new Clients(state.file),
    revoke,
    usedTwice: () => new TypeError("Used twice"),
  });
}

Deno.test("a grant is kept as it was given, and changed member by member", () => {
  using state = new TestState();
  const grants = new Grants(state.file, state.clock);
  const id = grants.add(GRANT);
  const known = { ...GRANT, id, since: state.now, computers: undefined, lastUsed: undefined, calls: 0 };
  assertEquals(grants.list(), [known]);
  grants.change(id, { rights: "read", computers: ["laptop"] });
  grants.countUse(id, { usedAt: state.now + 5, calls: 2 });
  assertEquals(grants.find(id), {
    ...known,
    rights: "read",
    computers: ["laptop"],
    lastUsed: state.now + 5,
    calls: 2,
  });
  assertEquals(grants.change("g_0", { rights: "call" }), false);
});

Deno.test("a grant ends when its last token has expired, and not while its client fetches the first one", async () => {
  using state = new TestState();
  state.now = Date.now();
  const grants = new Grants(state.file, state.clock);
  const [unused, used] = [grants.add(GRANT), grants.add(GRANT)];
  await tokens(state, "RefreshToken").upsert("r", { grantId: used }, 3_600);
  assertEquals(grants.prune(), []);
  state.now += 11 * 60_000;
  assertEquals(grants.prune(), [unused]);
  state.now += 3_600_000;
  assertEquals(grants.prune(), [used]);
});

Deno.test("a token of a grant that was ended meanwhile is not kept", async () => {
  using state = new TestState();
  const grants = new Grants(state.file);
  const id = grants.add(GRANT);
  grants.revoke(id);
  await tokens(state, "AccessToken").upsert("a", { grantId: id, aud: "x", scope: "a2c:read" }, 3_600);
  assertEquals(findAccessToken(state.file, "a", Date.now()), undefined);
});

Deno.test("a grant ends with too many tokens, and not before", async () => {
  using state = new TestState();
  const grants = new Grants(state.file);
  const [id, other] = [grants.add(GRANT), grants.add(GRANT)];
  const store = tokens(state, "RefreshToken", (grant) => void grants.revoke(grant));
  const keep = (count: number) => store.upsert(`token ${count}`, { grantId: id }, 3_600);
  state.file.run("BEGIN");
  for (let count = 0; count < 5_000; count++) await keep(count);
  state.file.run("COMMIT");
  assertEquals(await store.find("token 0"), { grantId: id, jti: "token 0" });
  await keep(5_000);
  assertEquals([grants.find(id), await store.find("token 0")], [undefined, undefined]);
  assertEquals(grants.find(other)?.id, other);
});

Deno.test("a row that nobody of this program wrote gives no rights", () => {
  using state = new TestState();
  const grants = new Grants(state.file);
  for (
    const [column, value] of [["rights", "admin"], ["offices", '"some"'], ["offices", "{"], [
      "computers",
      "5",
    ]]
  ) {
    const id = grants.add(GRANT);
    state.file.run(`UPDATE grants SET ${column} = ? WHERE id = ?`, value ?? "", id);
    assertEquals(grants.find(id), undefined);
  }
});
