/** Attacker: a client whose identity provider lets it choose its name, and who chooses that of a machine */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { besideMachines } from "../../src/server/admission/machines.ts";
import { JoiningServer, TestMachine } from "../fixtures/joining_server.ts";
import { ada, laptop, request } from "../integration/_echo_office.ts";
import { RawPeer } from "../integration/_socket.ts";

/** Credentials of a provider at which everybody chooses a name. */
const named = {
  authenticate: ({ auth }: { auth: object }) => Promise.resolve({ principal: Object(auth).token }),
};

Deno.test("nobody without the key of a machine is admitted under its id", async () => {
  await using joining = await JoiningServer.open();
  const id = await joining.approve(await TestMachine.make());
  await using server = await SmcpServer.listen({ port: 0, auth: besideMachines(joining.machines, named) });
  await using _other = await RawPeer.connect(server.url, { auth: { token: "ada" } });
  const error = await assertRejects(() => RawPeer.connect(server.url, { auth: { token: `machine:${id}` } }));
  assertStringIncludes(String(error), "that of a machine");
});

Deno.test("the id of a machine without a key is nobody's name", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: named });
  await using agent = await RawPeer.join(server.url, ada, { auth: { token: "ada" } });
  const list = async () => {
    const [answer] = await agent.request("server:list_presence", { ...request, office_id: "lab" });
    return Object(answer).computers.map(({ machine }: { machine?: string }) => machine);
  };
  const victim = await RawPeer.join(server.url, laptop, { auth: { token: "bob", machine: "m1" } });
  const [machine] = await list();
  await victim[Symbol.asyncDispose]();
  await using _thief = await RawPeer.join(server.url, laptop, { auth: { token: machine } });
  assertEquals(await list(), [undefined]);
});
