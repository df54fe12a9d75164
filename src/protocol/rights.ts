/** What the credential of an MCP client lets it do in an office. */

/** From the fewest rights to the most. */
export const ACCESS_RIGHTS: readonly AccessRights[] = ["read", "confirm", "call"];

/**
 * `read`: lists, reads, and tools that say that they modify nothing (`readOnlyHint`). `confirm`: also all other tools, each
 * asked at the machine. `call`: all.
 */
export type AccessRights = "read" | "confirm" | "call";
