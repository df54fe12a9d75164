/** Attacker: a Server. It sends its members' credentials elsewhere, answers without end, and drops whom it admits */
import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { createLogger } from "../../src/log.ts";
import { ServerUnreachableError } from "../../src/link/errors.ts";
import { acceptJoin, BareServer, type Handler } from "../integration/_bare_server.ts";
import { within } from "../fixtures/within.ts";

/** Attempts to connect that fail leave timers of the HTTP client behind. */
const MIB = 1024 * 1024;
const CREDENTIALS = { token: "hidden-token", headers: { "x-api-key": "hidden-key" } };

/** What a Server answers to a Computer that comes and goes. */
const FRIENDLY: Record<string, Handler> = {
  "server:join_office": acceptJoin,
  "server:leave_office": acceptJoin,
  "server:list_room": (_body, ack) => ack({ sessions: [] }),
};

/** An HTTP server that notes whatever it is asked. */
class Listener implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #http: HttpServer;

  private constructor(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#http = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      answer(request, response);
    });
  }

  static async open(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<Listener> {
    const listener = new Listener(answer);
    await new Promise<void>((resolve) => listener.#http.listen(0, "127.0.0.1", resolve));
    return listener;
  }

  get url(): string {
    const address = this.#http.address();
    if (typeof address === "string" || address === null) throw new TypeError("Not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

/** Connects an Agent and gives its error. */
function failToConnect(url: string): Promise<ServerUnreachableError> {
  const options = { url, office: "lab", name: "ada", timeoutMs: 600_000, ...CREDENTIALS };
  return within(assertRejects(() => Agent.connect(options), ServerUnreachableError), "the refusal");
}

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`HTTP ${status} to another host is refused, and that host gets nothing`, async () => {
    await using other = await Listener.open((_request, response) => response.end("ok"));
    await using server = await Listener.open(({ url }, response) => {
      response.writeHead(status, { location: `${other.url}${url}?key=hidden` }).end();
    });
    const error = await failToConnect(server.url);
    assertEquals(error.isPermanent, true);
    assertStringIncludes(error.message, `redirects to "${other.url}/socket.io/"`);
    assert(!error.message.includes("hidden"), error.message);
    assertEquals(other.requests, []);
  });
}

Deno.test(
  "a redirect of a Computer's handshake is refused, and the other host gets nothing",
  async () => {
    await using other = await Listener.open((_request, response) => response.end("ok"));
    await using server = await Listener.open(({ url }, response) => {
      response.writeHead(307, { location: `${other.url}${url}` }).end();
    });
    await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
    const joining = computer.join({ url: server.url, office: "lab", timeoutMs: 600_000, ...CREDENTIALS });
    const error = await within(joining.then(() => undefined, (error: unknown) => error), "the refusal");
    assertInstanceOf(error, ServerUnreachableError);
    assertEquals(other.requests, []);
  },
);

for (const status of [200, 400, 503]) {
  Deno.test(`an answer of HTTP ${status} without end costs a member next to nothing`, async () => {
    let sentBytes = 0;
    const piece = new Uint8Array(65_536).fill(0x20);
    await using server = await Listener.open((_request, response) => {
      response.writeHead(status);
      const send = () => {
        let isTaken = true;
        while (isTaken && !response.destroyed) {
          isTaken = response.write(piece);
          sentBytes += piece.length;
        }
      };
      response.on("drain", send);
      send();
    });
    const connecting = Agent.connect({ url: server.url, office: "lab", name: "ada", timeoutMs: 3_000 });
    await within(assertRejects(() => connecting), "the refusal");
    // What the sockets' own buffers take.
    assert(sentBytes / server.requests.length < 16 * MIB, `${sentBytes} bytes were taken`);
  });
}

Deno.test(
  "a Server that admits its members and drops them at once is asked less and less often",
  async () => {
    await using server = await BareServer.listen({
      handlers: {
        "server:join_office": (_body, ack, socket) => {
          ack(true, null);
          // At once, whether it polls or not.
          socket.conn.close(true);
        },
      },
    });
    const startMs = performance.now();
    await using _agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
    await within(server.connection(5), "the fifth connection");
    // The first return is at once; then come 250, 500 and 1,000 ms at least.
    assert(performance.now() - startMs > 1_700, `${performance.now() - startMs} ms`);
  },
);

Deno.test("an event of millions of characters is a short line in a Computer's log, which ends in time", async () => {
  const lines: string[] = [];
  await using server = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: {} },
    logger: createLogger({ write: (line) => void lines.push(line) }),
  });
  await computer.join({ url: server.url, office: "lab" });
  const socket = await server.connection(1);
  const [answer] = await within(
    new Promise<unknown[]>((resolve) => {
      socket.emit(`client:${"x".repeat(3_000_000)}`, { req_id: "r" }, (...args: unknown[]) => resolve(args));
    }),
    "the answer",
  );
  assert(JSON.stringify(answer).length < 100_000);
  assert(lines.length > 0 && lines.every((line) => line.length < 50_000));
  await within(computer.close(), "the end of a Computer whose leave is never answered");
});

Deno.test("events of wrong shapes are answered or passed over, and the Computer goes on", async () => {
  const lines: string[] = [];
  await using server = await BareServer.listen({ handlers: FRIENDLY });
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: {} },
    logger: createLogger({ write: (line) => void lines.push(line) }),
  });
  await computer.join({ url: server.url, office: "lab" });
  const socket = await server.connection(1);
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const write = (text: string) => socket.conn.write(text);
  write(`2/smcp,["client:tool_call",{"req_id":"r","tool_name":"x","params":{"a":${deep}}}]`);
  write(`2/smcp,["notify:enter_office",{"office_id":${deep}}]`);
  write("2/smcp,[1,2]");
  write('2/smcp,["__proto__",{"req_id":"r"}]');
  write(
    '2/smcp,["client:get_tools",{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}]',
  );
  const ask = (body: unknown) =>
    within(
      new Promise<unknown>((resolve) => socket.emit("client:get_tools", body, resolve)),
      "the answer",
    );
  assertEquals(Reflect.get(Object(await ask(null)), "code"), 400);
  const answer = await ask({ agent: "ada", req_id: "r", computer: "laptop" });
  assertEquals(answer, { tools: [], req_id: "r" });
  assertEquals(Reflect.get({}, "polluted"), undefined);
  assert(!lines.some((line) => /is not a function|undefined \(reading/.test(line)), lines.join("\n"));
});

Deno.test("thousands of requests at once are all answered, and refusals in a row are one line in the log", async () => {
  const lines: string[] = [];
  await using server = await BareServer.listen({ handlers: FRIENDLY });
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: {} },
    limits: { maxRequests: 50 },
    logger: createLogger({ write: (line) => void lines.push(line) }),
  });
  await computer.join({ url: server.url, office: "lab" });
  const socket = await server.connection(1);
  const answers = await within(
    Promise.all(
      Array.from(
        { length: 20_000 },
        (_, n) =>
          new Promise<unknown>((resolve) =>
            socket.emit("client:get_tools", { agent: "ada", req_id: `r${n}`, computer: "laptop" }, resolve)
          ),
      ),
    ),
    "all answers",
  );
  const codes = Map.groupBy(answers, (answer) => Reflect.get(Object(answer), "code"));
  assertEquals([...codes.keys()].sort(), [500, undefined]);
  assert(lines.length < 1_000, `${lines.length} lines`);
});
