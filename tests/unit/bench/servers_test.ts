import { assertEquals } from "@std/assert";
import { readChoices } from "../../../bench/relay/servers.ts";

const help = `Options:
  --log-format <format>              the format of log lines
                                     (choices: "text", "json", default: "text",
                                     env: A2C_LOG_FORMAT)
  --engine <engine>                  what serves WebSockets (choices: "builtin",
                                     "ws", default: "builtin")
  --host <host>                      the address to listen on (default: "::1")
`;

Deno.test("readChoices() reads the choices of an option from the help, and none of another option", () => {
  assertEquals(readChoices(help, "--engine"), ["builtin", "ws"]);
  assertEquals(readChoices(help, "--host"), []);
  assertEquals(readChoices(help, "--redis"), []);
});
