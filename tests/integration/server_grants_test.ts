import { assertEquals } from "@std/assert";
import { type AuthProvider, type Grant, SmcpServer } from "../../server.ts";
import { type Membership, RawPeer, RecordingLogger } from "./_socket.ts";

/** Takes the grant out of the auth object, as JSON: everything goes for these tests. */
const auth: AuthProvider = {
  authenticate: ({ auth }) => ({ principal: "p", grant: JSON.parse(String(auth["grant"] ?? "{}")) }),
};

/** Asks for a seat, and resolves to the text of the refusal; an empty one when it was granted. */
async function ask(
  server: SmcpServer,
  { grant, observer = false, ...seat }: Membership & { readonly grant: Grant; readonly observer?: boolean },
): Promise<string> {
  await using peer = await RawPeer.connect(server.url, { auth: { grant: JSON.stringify(grant), observer } });
  const [isJoined, reason] = await peer.request("server:join_office", seat);
  return isJoined === true ? "" : String(reason);
}

const agent = { role: "agent", name: "ada" } as const;
const computer = { role: "computer", name: "laptop" } as const;

Deno.test("a member joins only the offices and roles of its grant", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth });
  const lab = { office_id: "lab" };
  const refused = "do not allow";
  const cases: readonly [Parameters<typeof ask>[1], string][] = [
    [{ ...agent, ...lab, grant: {} }, ""],
    [{ ...agent, ...lab, grant: { offices: ["lab"] } }, ""],
    [{ ...agent, ...lab, grant: { offices: ["den", "lab"], roles: ["agent"] } }, ""],
    [{ ...agent, ...lab, grant: { offices: ["den"] } }, refused],
    [{ ...agent, ...lab, grant: { offices: [] } }, refused],
    [{ ...agent, ...lab, grant: { roles: [] } }, refused],
    [{ ...agent, ...lab, grant: { roles: ["computer"] } }, refused],
    [{ ...agent, ...lab, grant: { roles: ["observer"] } }, refused],
    [{ ...agent, ...lab, grant: { roles: ["observer"] }, observer: true }, ""],
    [{ ...agent, ...lab, grant: { roles: ["agent"] }, observer: true }, ""],
    [{ ...agent, ...lab, grant: { roles: ["computer"] }, observer: true }, refused],
    [{ ...computer, ...lab, grant: { roles: ["agent", "observer"] } }, refused],
    [{ ...computer, ...lab, grant: { roles: ["observer"] }, observer: true }, refused],
    [{ ...computer, ...lab, grant: { roles: ["computer"], offices: ["lab"] } }, ""],
  ];
  for (const [seat, expected] of cases) {
    const answer = await ask(server, seat);
    assertEquals(
      answer.includes(expected) && (answer === "") === (expected === ""),
      true,
      JSON.stringify([seat, answer]),
    );
  }
});

Deno.test("the log of the Server says what a grant allows, and the client is not told", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, auth, logger });
  const offices = ["den", ...Array.from({ length: 30 }, (_, index) => `o${index}`)];
  const told: string[] = [];
  for (const grant of [{ offices: [] }, { offices, roles: ["computer"] }, { roles: [] }] as const) {
    told.push(await ask(server, { ...agent, office_id: "lab", grant }));
  }
  const remedy = "ask who runs the Server for credentials of this office and role";
  assertEquals([...new Set(told)], [
    `The credentials do not allow the role agent in office "lab"; ${remedy} (403)`,
  ]);
  const reading = await ask(server, { ...agent, office_id: "lab", grant: { offices: [] }, observer: true });
  assertEquals(
    reading,
    `The credentials do not allow the role observer (an agent that only reads) in office "lab"; ${remedy} (403)`,
  );
  const lines = logger.lines.filter(({ message }) => message.startsWith("The credentials"));
  assertEquals(lines.map(({ fields }) => [fields["allowed_offices"], fields["allowed_roles"]]), [
    ["none", "agent,computer,observer"],
    [offices.join(","), "computer"],
    ["*", "none"],
    ["none", "agent,computer,observer"],
  ]);
});

Deno.test("a refused grant leaves a Computer in the office that it is in", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth });
  const options = { auth: { grant: JSON.stringify({ offices: ["lab"] }) } };
  await using laptop = await RawPeer.join(server.url, { ...computer, office_id: "lab" }, options);
  const [isJoined] = await laptop.request("server:join_office", { ...computer, office_id: "den" });
  assertEquals(isJoined, false);
  const [answer] = await laptop.request("server:list_room", { agent: "", req_id: "r", office_id: "lab" });
  assertEquals(Object(answer).sessions.length, 1);
});

Deno.test("a refusal is the same for an office that exists, one that does not, and a taken seat", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using _holder = await RawPeer.join(server.url, { ...agent, office_id: "room1" });
  const grant = { offices: ["lab"] };
  const existing = await ask(server, { ...agent, office_id: "room1", grant });
  const missing = await ask(server, { ...agent, office_id: "room2", grant });
  assertEquals(existing.replace("room1", "room2"), missing);
});

Deno.test("a provider in JavaScript that returns a malformed grant admits nobody", async () => {
  const malformed = [
    { offices: "lab" },
    { offices: [1] },
    { roles: ["admin"] },
    { roles: "agent" },
    { office: ["lab"] },
    "all",
    null,
    [],
  ];
  for (const grant of malformed) {
    const auth = { authenticate: () => JSON.parse(JSON.stringify({ principal: "p", grant })) };
    await using server = await SmcpServer.listen({ port: 0, auth });
    const error = await RawPeer.connect(server.url).then(() => undefined, (error) => error);
    assertEquals(error?.data?.code, 503, JSON.stringify(grant));
  }
});
