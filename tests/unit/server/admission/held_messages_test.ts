/** A connection, and all that Socket.IO has got from it. */
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { assert, assertEquals } from "@std/assert";
import { HeldMessages, type Message } from "../../../../src/server/admission/held_messages.ts";

class Connection extends EventEmitter {
  readyState = "open";
  readonly read: Message[] = [];

  constructor() {
    super();
    this.on("data", (message: Message) => {
      this.read.push(message);
      if (message === "malformed") this.readyState = "closing";
    });
  }

  receive(...messages: Message[]): void {
    for (const message of messages) this.emit("data", message);
  }
}

Deno.test("HeldMessages keeps messages until they are delivered, and what comes later follows them", () => {
  const connection = new Connection();
  connection.receive("connect");
  const held = new HeldMessages(connection);
  connection.receive("a", "b");
  assertEquals(connection.read, ["connect"]);
  held.deliver();
  connection.receive("c");
  assertEquals(connection.read, ["connect", "a", "b", "c"]);
});

Deno.test("HeldMessages delivers each message once", () => {
  const connection = new Connection();
  const held = new HeldMessages(connection);
  connection.receive("a");
  held.deliver();
  held.deliver();
  assertEquals(connection.read, ["a"]);
});

Deno.test("HeldMessages that were discarded are never read, and later ones are not kept", () => {
  const connection = new Connection();
  const held = new HeldMessages(connection);
  connection.receive("a");
  held.discard();
  connection.receive("b");
  held.deliver();
  assertEquals(connection.read, []);
});

Deno.test("HeldMessages delivers nothing after a message for which the connection is ended", () => {
  const connection = new Connection();
  const held = new HeldMessages(connection);
  connection.receive("a", "malformed", "b");
  held.deliver();
  assertEquals(connection.read, ["a", "malformed"]);
});

Deno.test("HeldMessages copies bytes out of the large buffer that they came in", () => {
  const connection = new Connection();
  const held = new HeldMessages(connection);
  const piece = Buffer.from(new ArrayBuffer(65_536), 10, 3).fill(7);
  connection.receive(piece);
  piece.fill(0);
  held.deliver();
  const [message] = connection.read;
  assert(message instanceof Buffer);
  assertEquals([...message], [7, 7, 7]);
  assertEquals(message.buffer.byteLength, 3);
});
