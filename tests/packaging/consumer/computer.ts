/** What somebody meets who takes a Computer into a program for Node: `node computer.js`. */
import { Computer } from "@a2c-smcp/sdk/computer";

console.log(Computer.name);
