/**
 * A program with a Computer: it works in Deno, and in Node it ends at its import. It prints the Computer's name, and
 * whether the server of its documents runs.
 */
import { Computer } from "@a2c-smcp/sdk/computer";

const config = { servers: { notes: { type: "documents", folders: ["."] } } };
await using computer = Computer.open({ name: "laptop", config });
await computer.ready();
console.log(computer.name, computer.servers.get("notes")?.status);
