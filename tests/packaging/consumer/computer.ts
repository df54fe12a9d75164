/** A program with a Computer: it works in Deno, and in Node it ends at its import. It prints the Computer's name. */
import { Computer } from "@a2c-smcp/sdk/computer";

await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
await computer.ready();
console.log(computer.name);
