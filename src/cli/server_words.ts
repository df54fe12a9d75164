/** How commands say that an MCP server does not run. */
import { quoteWord } from "../terminal/words.ts";
import { commandLineOf } from "./program.ts";

export function loginCommand(server: string): string {
  return `"auth login ${quoteWord(server)}"`;
}

/** The same for a shell, where no Computer need run. */
export function shellLoginCommand(server: string, { config }: { readonly config: string }): string {
  const words = ["auth", "login", server, "--config", config].map((word) => quoteWord(word));
  return `"${commandLineOf("computer")} ${words.join(" ")}"`;
}

/** `server "x" is starting`, `server "x" failed`, or `server "x" needs a sign-in (run "auth login x")` */
export function serverStatusText(server: string, status: string): string {
  if (status === "needs sign-in") return `server "${server}" needs a sign-in (run ${loginCommand(server)})`;
  return `server "${server}" ${status === "failed" ? "failed" : `is ${status}`}`;
}
