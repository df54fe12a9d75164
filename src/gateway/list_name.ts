/** The lists of the gateway. */

/** The lists of which clients are told that they have changed. */
export type ListName = "tools" | "resources" | "prompts";
