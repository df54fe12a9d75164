/** What the credential of an MCP client lets it do in an office. */

/** From the fewest rights to the most. */
export const ACCESS_RIGHTS = ["read", "confirm", "call"] as const;

/**
 * `read`: lists, reads, and tools that say that they modify nothing (`readOnlyHint`). `confirm`: also all other tools, each
 * asked at the machine. `call`: all.
 */
export type AccessRights = typeof ACCESS_RIGHTS[number];
