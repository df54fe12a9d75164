/** The cells of the matrix: which roles are ours and which are those of another SDK. */
import type { ProtocolMinor } from "../../../src/protocol/version.ts";

/** Who plays a role: this package, or the other SDK. */
export type Player = "ours" | "theirs";

/** The three roles of the protocol. */
export type RoleName = "server" | "computer" | "agent";

/** One version of another SDK. */
export interface Sdk {
  readonly language: "Python" | "Rust";
  /** Its full version, as the registry has it. */
  readonly version: string;
  /** The protocol that it speaks. */
  readonly minor: ProtocolMinor;
}

/** Every SDK of the matrix. */
export const sdks: readonly Sdk[] = [
  { language: "Python", version: "0.2.2", minor: "0.2" },
  { language: "Python", version: "0.3.3", minor: "0.3" },
  { language: "Python", version: "0.4.2", minor: "0.4" },
  { language: "Rust", version: "0.4.1", minor: "0.4" },
];

/** An office with roles of both sides. */
export interface Cell extends Readonly<Record<RoleName, Player>> {
  readonly sdk: Sdk;
}

/** The roles, in the order of the letters of a cell. */
export const roleNames: readonly RoleName[] = ["server", "computer", "agent"];

/** The six offices in which at least one role is ours and at least one is theirs. */
export function cellsOf(sdk: Sdk): Cell[] {
  const players: readonly Player[] = ["ours", "theirs"];
  return players.flatMap((server) =>
    players.flatMap((computer) => players.map((agent) => ({ sdk, server, computer, agent })))
  ).filter((cell) => new Set(roleNames.map((role) => cell[role])).size === 2);
}

/** `Python 0.4.2: their Server, our Computer, our Agent` */
export function titleOf(cell: Cell): string {
  return `${nameOf(cell.sdk)}: ${rolesOf(cell)}`;
}

/** `their Server, our Computer, our Agent` */
export function rolesOf(cell: Cell): string {
  const capital = (role: RoleName) => role.slice(0, 1).toUpperCase() + role.slice(1);
  return roleNames.map((role) => `${cell[role] === "ours" ? "our" : "their"} ${capital(role)}`).join(", ");
}

/** `Python 0.4.2` */
export function nameOf({ language, version }: Sdk): string {
  return `${language} ${version}`;
}

/** The SDK of that name. */
export function sdkNamed(name: string): Sdk {
  const sdk = sdks.find((sdk) => nameOf(sdk) === name);
  if (sdk === undefined) throw new TypeError(`No SDK named "${name}". SDKs: ${sdks.map(nameOf).join(", ")}`);
  return sdk;
}
