/** The names of limits, for whoever reads them in a log or in a refusal: operators know a flag, programs a property. */

const FLAGS = {
  maxPayloadBytes: "--max-payload",
  maxMessageMemoryBytes: "--max-message-memory",
  maxOpenRequests: "--max-open-requests",
  maxPendingConnections: "--max-pending",
  maxPendingConnectionsPerAddress: "--max-pending-per-address",
  maxSockets: "--max-sockets",
  maxConnectionsPerPrincipal: "--max-connections-per-principal",
  maxConnectionsPerAddress: "--max-connections-per-address",
  maxConnectsPerPrincipal: "--max-connects-per-principal",
  maxConnectsPerAddress: "--max-connects-per-address",
  maxRequestsPerPrincipal: "--max-requests-per-principal",
  maxRequestsPerAddress: "--max-requests-per-address",
  maxOffices: "--max-offices",
  maxOfficesPerPrincipal: "--max-offices-per-principal",
  maxMembersPerOffice: "--max-members-per-office",
} as const;

/** An option of the Server that sets a limit. */
export type LimitOption = keyof typeof FLAGS;

/** Names a limit in both ways, such as `--max-offices (maxOffices)`. */
export function optionLabel(name: LimitOption): string {
  return `${FLAGS[name]} (${name})`;
}
