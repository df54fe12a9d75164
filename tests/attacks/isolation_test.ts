/** Attacker: a member of one office. It tries every event, forged names and ids, and races, to reach or see another office */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { staticTokens } from "../../server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { type Membership, type PeerOptions, RawPeer } from "../integration/_socket.ts";
import { keepRedis, type World, worlds } from "./_worlds.ts";

keepRedis();

const auth = staticTokens({
  tokens: [
    { token: "victims", name: "victims" },
    { token: "others", name: "others" },
    { token: "limited", name: "limited", offices: ["den"], roles: ["agent"] },
  ],
});
const VICTIM: PeerOptions = { auth: { token: "victims" } };
const OTHER: PeerOptions = { auth: { token: "others" } };

const agent = (name: string, office_id: string): Membership => ({ role: "agent", name, office_id });
const computer = (name: string, office_id: string): Membership => ({ role: "computer", name, office_id });

/** The office "lab" with an Agent, a Computer and a call in flight; it writes down whatever reaches it. */
class Lab implements AsyncDisposable {
  readonly ada: RawPeer;
  readonly laptop: RawPeer;
  /** What the members got, without what the members themselves did. */
  readonly heard: unknown[] = [];
  readonly #call: Promise<unknown[]>;

  private constructor({ ada, laptop }: { readonly ada: RawPeer; readonly laptop: RawPeer }) {
    this.ada = ada;
    this.laptop = laptop;
    const call = { agent: "ada", req_id: "secret-call", computer: "laptop", timeout: 60 };
    this.#call = ada.request("client:tool_call", call).catch(() => []);
  }

  static async open({ home }: World): Promise<Lab> {
    const laptop = await RawPeer.join(home.url, computer("laptop", "lab"), VICTIM);
    const ada = await RawPeer.join(home.url, agent("ada", "lab"), VICTIM);
    await laptop.next("notify:enter_office");
    const asked = laptop.nextRequest("client:tool_call");
    const lab = new Lab({ ada, laptop });
    await asked;
    for (const peer of [ada, laptop]) {
      peer.socket.onAny((event: string, body: unknown) => void lab.heard.push([event, body]));
    }
    return lab;
  }

  /** Fails if anything has reached the office, or a member is missing. */
  async assertUntouched(): Promise<void> {
    await this.laptop.settled();
    await this.ada.settled();
    assertEquals(this.heard, []);
    const [answer] = await this.ada.request("server:list_room", {
      agent: "ada",
      req_id: "l",
      office_id: "lab",
    });
    const { sessions } = Object(answer);
    assertEquals(sessions.map(({ sid }: { readonly sid: string }) => sid), [this.laptop.id, this.ada.id]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.laptop[Symbol.asyncDispose]();
    await this.#call;
    await this.ada[Symbol.asyncDispose]();
  }
}

/** All events of members, and some that nobody may send, with all fields that name somebody. */
const EVENTS: readonly string[] = [
  "client:tool_call",
  "client:get_tools",
  "client:get_config",
  "client:get_desktop",
  "client:get_finder",
  "client:get_resources",
  "client:read_resource",
  "client:get_blob",
  "client:get_dpe",
  "client:subscribe_resource",
  "client:get_resource_updates",
  "client:follow_call",
  "client:made_up",
  "server:list_room",
  "server:leave_office",
  "server:tool_call_cancel",
  "server:update_config",
  "server:update_tool_list",
  "server:update_desktop",
  "server:update_made_up",
  "server:update_progress",
  "notify:enter_office",
  "notify:leave_office",
  "notify:tool_call_cancel",
  "notify:connection_closing",
  "office:lab",
  "server:__proto__",
  "__proto__",
  "constructor",
  "message",
];

/** Who attacks. */
const ATTACKERS: Readonly<
  Record<string, readonly [membership: Membership | undefined, options: PeerOptions]>
> = {
  "an Agent": [agent("ada", "den"), OTHER],
  "a Computer": [computer("laptop", "den"), OTHER],
  "an observer": [agent("eve", "den"), { auth: { ...OTHER.auth, observer: true } }],
  "a member of no office": [undefined, OTHER],
  "the holder of a limited token": [agent("ada", "den"), { auth: { token: "limited" } }],
  "an Agent with the victim's token": [agent("ada", "den"), VICTIM],
};

async function connectAs(url: string, [membership, options]: readonly [Membership | undefined, PeerOptions]) {
  return membership === undefined
    ? await RawPeer.connect(url, options)
    : await RawPeer.join(url, membership, options);
}

/** An answer in which the names that were tried look alike. */
function withoutNames(answer: unknown): string {
  return JSON.stringify(answer).replaceAll(/laptop|nobody/g, "NAME").replaceAll(/\blab\b|\bnil\b/g, "OFFICE");
}

for (const { name: world, ignore, open } of worlds) {
  const test = (name: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${world}: ${name}`, ignore, fn });

  for (const [who, attacker] of Object.entries(ATTACKERS)) {
    test(`no event of ${who} reaches another office, or tells whether it exists`, async () => {
      await using place = await open({ auth });
      await using lab = await Lab.open(place);
      await using peer = await connectAs(place.away.url, attacker);
      for (const event of EVENTS) {
        const ask = async (office_id: string, computer: string) => {
          const body = {
            agent: "ada",
            req_id: "secret-call",
            computer,
            office_id,
            role: "agent",
            name: "ada",
          };
          return withoutNames(await peer.request(event, body));
        };
        assertEquals(await ask("lab", "laptop"), await ask("nil", "nobody"), event);
      }
      await lab.assertUntouched();
    });
  }

  test("a limited token gets the same refusal for an office that exists, in every spelling", async () => {
    await using place = await open({ auth });
    await using lab = await Lab.open(place);
    await using peer = await RawPeer.connect(place.away.url, { auth: { token: "limited" } });
    for (const role of ["agent", "computer"] as const) {
      const ask = async (office_id: string) =>
        withoutNames(await peer.request("server:join_office", { role, name: "ada", office_id }));
      assertEquals(await ask("lab"), await ask("nil"));
    }
    await lab.assertUntouched();
  });

  test("an office whose id looks like part of another one's inside is another office", async () => {
    await using place = await open({ auth });
    await using lab = await Lab.open(place);
    const ids = [
      lab.ada.id,
      lab.laptop.id,
      "office:lab",
      "LAB",
      "l\u0430b",
      "lab:seats",
      "lab:news",
      "lab}:seats",
      "{office.lab}",
      "{lab}",
      "%6Cab",
      "lab%0a",
      "lab\\n",
      "*",
      "l?b",
      "[l]ab",
      "l*",
      "v",
      `s:${lab.laptop.id}`,
      "__proto__",
      "constructor",
      "hasOwnProperty",
      "undefined",
    ];
    await using spy = await RawPeer.connect(place.away.url, OTHER);
    for (const office_id of ids) {
      assertEquals(await spy.request("server:join_office", computer("laptop", office_id)), [true, null]);
      const list = await spy.request("server:list_room", { agent: "x", req_id: "r", office_id });
      const { sessions } = Object(list[0]);
      assertEquals(sessions.map(({ sid }: { readonly sid: string }) => sid), [spy.id], office_id);
      assertEquals(await spy.request("server:update_config", { computer: "laptop" }), []);
    }
    await lab.assertUntouched();
    assertEquals(spy.arrivals, []);
    await using agentOfSame = await RawPeer.join(place.away.url, agent("ada", lab.laptop.id), OTHER);
    const call = { agent: "ada", req_id: "secret-call", computer: "laptop" };
    assertEquals(Object((await agentOfSame.request("client:tool_call", call))[0])["code"], 404);
    assertEquals(await agentOfSame.request("server:tool_call_cancel", call), []);
    await lab.assertUntouched();
  });

  test("names of members of objects are ordinary names of Computers and Agents", async () => {
    await using place = await open({ auth });
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "valueOf"]) {
      await using peer = await RawPeer.join(place.home.url, computer(name, name), VICTIM);
      await using other = await RawPeer.join(place.away.url, agent(name, name), OTHER);
      const body = { agent: name, req_id: name };
      const [missing] = await other.request("client:x", { ...body, computer: `${name}s` });
      assertEquals(Object(missing)["code"], 404);
      peer.serve("client:x", () => ["here"]);
      assertEquals(await other.request("client:x", { ...body, computer: name }), ["here"]);
      assertEquals(await peer.next("notify:enter_office"), { office_id: name, agent: name });
    }
  });

  test("whoever moves between offices gets nothing of the former one once it has joined the other", async () => {
    await using place = await open({ auth });
    await using ada = await RawPeer.join(place.home.url, agent("ada", "lab"), VICTIM);
    await using eve = await RawPeer.join(place.home.url, agent("eve", "den"), VICTIM);
    await using hopper = await RawPeer.connect(place.away.url, OTHER);
    let office: string | undefined;
    const crossed: unknown[] = [];
    hopper.socket.onAny((event: string, body: unknown, ack?: (answer: unknown) => void) => {
      const { of, office_id } = Object(body);
      const origin = of ?? office_id;
      if (office !== undefined && origin !== undefined && origin !== office) {
        crossed.push([event, body, office]);
      }
      ack?.({ served: office });
    });
    const flood = async (peer: RawPeer, of: string) => {
      for (let i = 0; i < 60; i++) {
        const body = { agent: "x", req_id: `${of}-${i}`, computer: "hopper", of };
        const [answer] = await peer.request("client:x", body);
        const { served, code } = Object(answer);
        // While a join is being answered, the Computer does not know where it is.
        if (code !== 404 && served !== undefined && served !== of) crossed.push([of, answer]);
      }
    };
    const hop = async () => {
      for (let i = 0; i < 30; i++) {
        const next = i % 2 === 0 ? "lab" : "den";
        office = undefined;
        const leave = i > 0 && i % 3 === 0
          ? hopper.request("server:leave_office", { office_id: next === "lab" ? "den" : "lab" })
          : undefined;
        const join = hopper.request("server:join_office", computer("hopper", next));
        await leave;
        assertEquals(await join, [true, null]);
        office = next;
      }
    };
    await Promise.all([hop(), flood(ada, "lab"), flood(eve, "den")]);
    assertEquals(crossed, []);
  });

  test("whoever comes back under another name gets no request for its former one", async () => {
    await using place = await open({ auth });
    await using ada = await RawPeer.join(place.home.url, agent("ada", "lab"), VICTIM);
    await using hopper = await RawPeer.connect(place.away.url, OTHER);
    let name: string | undefined;
    const wrong: unknown[] = [];
    hopper.socket.onAny((event: string, body: unknown, ack?: (answer: unknown) => void) => {
      const { computer } = Object(body);
      if (event === "client:x" && name !== undefined && computer !== name) wrong.push([computer, name]);
      ack?.({});
    });
    let isDone = false;
    const flood = async () => {
      for (let i = 0; !isDone; i++) {
        const computers = ["one", "two"];
        await Promise.all(
          computers.map((computer) => ada.request("client:x", { agent: "a", req_id: `${i}`, computer })),
        );
      }
    };
    const hop = async () => {
      for (let i = 0; i < 30; i++) {
        const next = i % 2 === 0 ? "one" : "two";
        const left = i > 0 ? hopper.request("server:leave_office", { office_id: "lab" }) : undefined;
        name = undefined;
        const joined = hopper.request("server:join_office", computer(next, "lab"));
        await left;
        assertEquals(await joined, [true, null]);
        name = next;
        await hopper.settled();
      }
      isDone = true;
    };
    await Promise.all([hop(), flood()]);
    assertEquals(wrong, []);
  });

  test("who takes the name of a member that is being lost gets none of its requests, and none of its answers count", async () => {
    await using place = await open({ auth });
    await using ada = await RawPeer.join(place.home.url, agent("ada", "lab"), VICTIM);
    for (let round = 0; round < 10; round++) {
      const first = await RawPeer.join(place.home.url, computer("laptop", "lab"), VICTIM);
      const asked = first.nextRequest("client:secret");
      const body = { agent: "ada", req_id: `secret-${round}`, computer: "laptop" };
      const call = ada.request("client:secret", body);
      await asked;
      await using thief = await RawPeer.connect(place.away.url, OTHER);
      const stolen: unknown[] = [];
      thief.socket.onAny((event: string) => void (event === "client:secret" && stolen.push(event)));
      const early = thief.request("server:join_office", computer("laptop", "lab"));
      const cut = first.cut();
      const [isJoined] = await early;
      if (isJoined !== true) {
        const join = () => thief.request("server:join_office", computer("laptop", "lab"));
        await eventually(join, ([isJoined]) => isJoined === true, "the name to be free");
      }
      await cut;
      const [answer] = await within(call, "the end of the call");
      assertEquals(Object(answer)["code"], 404);
      await thief.settled();
      assertEquals(stolen, []);
      // Otherwise the next round may find the name taken still.
      assertEquals(await thief.request("server:leave_office", { office_id: "lab" }), [true, null]);
    }
  });

  test("a connection that leaves its office keeps nothing of it: neither requests nor notifications", async () => {
    await using place = await open({ auth });
    await using ada = await RawPeer.join(place.home.url, agent("ada", "lab"), VICTIM);
    await using laptop = await RawPeer.join(place.home.url, computer("laptop", "lab"), VICTIM);
    await using former = await RawPeer.join(place.away.url, computer("former", "lab"), OTHER);
    let acknowledge: ((answer: unknown) => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      former.socket.once("client:x", (_body: unknown, ack: (answer: unknown) => void) => {
        acknowledge = ack;
        resolve();
      });
    });
    const call = ada.request("client:x", { agent: "ada", req_id: "r", computer: "former" });
    await within(asked, "the request");
    assertEquals(await former.request("server:leave_office", { office_id: "lab" }), [true, null]);
    const heard = former.arrivals.length;
    assertEquals(Object((await call)[0])["code"], 404);
    acknowledge?.({ forged: true });
    const list = { agent: "x", req_id: "r", office_id: "lab" };
    assertEquals(Object((await former.request("server:list_room", list))[0])["code"], 4103);
    assertEquals(
      Object((await former.request("server:update_config", { computer: "former" }))[0])["code"],
      4103,
    );
    await laptop.request("server:update_config", { computer: "laptop" });
    await ada.next("notify:update_config");
    await former.settled();
    assertEquals(former.arrivals.length, heard);
  });

  test("the ids that a member sees tell nothing of how busy others are", async () => {
    await using place = await open({ auth });
    await using spy = await RawPeer.join(place.away.url, computer("spy", "den"), OTHER);
    await using spyAgent = await RawPeer.join(place.away.url, agent("spy", "den"), OTHER);
    const acks: string[] = [];
    spy.socket.io.engine.on("data", (packet: unknown) => {
      const id = /^2\/smcp,(\d+)\[/.exec(String(packet))?.[1];
      if (id !== undefined) acks.push(id);
    });
    spy.serve("client:x", () => ["here"]);
    const body = { agent: "a", req_id: "r" };
    const ids = [spy.id, spyAgent.id];
    await using lab = await Lab.open(place);
    lab.laptop.serve("client:x", () => ["here"]);
    for (let call = 0; call < 5; call++) {
      await spyAgent.request("client:x", { ...body, computer: "spy" });
      for (let other = 0; other < 10; other++) {
        await lab.ada.request("client:x", { ...body, computer: "laptop" });
      }
      await using peer = await RawPeer.connect(place.away.url, OTHER);
      ids.push(peer.id);
    }
    assertEquals(acks, ["0", "1", "2", "3", "4"]);
    // The last four bytes used to be a counter: its first three bytes were those of the neighbour.
    const counters = ids.map((id) => id.slice(-6, -1));
    for (const [index, counter] of counters.entries()) {
      if (index > 0) assertNotEquals(counter, counters[index - 1]);
    }
    assert(new Set(ids).size === ids.length);
  });
}
