/** OAuth clients: what the hub keeps of their metadata, and which of them are registered here. */
import { createHmac } from "node:crypto";
import { isRecord, isTexts, parseJson } from "../json/json.ts";
import type { StateFile } from "./state_file.ts";

const MAX_REDIRECTS = 16;
const MAX_URI_LENGTH = 2_048;
const MAX_CLIENT_NAME_LENGTH = 200;
/** The most registrations, in use or not; the unused one that was registered longest ago gives way. */
export const MAX_CLIENTS = 1_000;
/** How long a registration is kept without a grant, in milliseconds. */
export const UNUSED_CLIENT_MS = 24 * 60 * 60_000;
const ID_BYTES = 15;

/** The kinds of clients are not told apart: all are public, use PKCE, and get codes and refresh tokens. */
const COMMON = {
  application_type: "native",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  response_modes: ["query"],
  token_endpoint_auth_method: "none",
} as const;

export interface ClientMetadata {
  readonly client_name: string;
  readonly redirect_uris: readonly string[];
}

/** Metadata that cannot be accepted; `code` is the error of RFC 7591. */
export class ClientMetadataError extends Error {
  override readonly name = "ClientMetadataError";
  readonly code: "invalid_client_metadata" | "invalid_redirect_uri";

  constructor(message: string, { code }: Pick<ClientMetadataError, "code">) {
    super(message);
    this.code = code;
  }
}

function metadataError(
  problem: string,
  code: ClientMetadataError["code"] = "invalid_client_metadata",
): ClientMetadataError {
  return new ClientMetadataError(`Cannot use the metadata of the client: ${problem}`, { code });
}

/**
 * Reads the metadata of a client, from a registration or a metadata document. What the client asks for beyond a public client
 * with PKCE is left out, as RFC 7591 allows; the answer says what it got.
 *
 * @throws {ClientMetadataError} when no person could be sent back to the client.
 */
export function parseClientMetadata(value: unknown): ClientMetadata {
  if (!isRecord(value)) throw metadataError("it is not a JSON object");
  const { client_name: name, redirect_uris: uris } = value;
  if (!isTexts(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS) {
    throw metadataError(
      `redirect_uris must be a list of 1 to ${MAX_REDIRECTS} URIs`,
      "invalid_redirect_uri",
    );
  }
  for (const uri of uris) requireRedirect(uri);
  const isNamed = typeof name === "string" && name.trim() !== "";
  if (name !== undefined && !isNamed || isNamed && name.length > MAX_CLIENT_NAME_LENGTH) {
    throw metadataError(`client_name must be a text of 1 to ${MAX_CLIENT_NAME_LENGTH} characters`);
  }
  return {
    client_name: isNamed ? name.toWellFormed() : hostOf(uris[0] ?? ""),
    redirect_uris: [...new Set(uris)],
  };
}

/** The whole metadata, as the library and the answer to a registration have it. */
export function fullMetadata(id: string, metadata: ClientMetadata) {
  return { client_id: id, ...metadata, ...COMMON };
}

/** Where a program on the machine of the person's browser waits for it. */
export const OWN_MACHINE = "localhost";

/** Where a person is sent back to: a host, the own machine, or an app. For people. */
export function hostOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return "";
  if (LOOPBACK_HOSTS.includes(url.hostname)) return OWN_MACHINE;
  return ["http:", "https:"].includes(url.protocol) ? url.host : `the app for ${url.protocol}//`;
}

/** A scheme of an app by RFC 8252, section 7.1: a name of DNS, turned round, which the maker of the app owns. */
const OWNED_SCHEME = /^[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+:$/;

/** Schemes of MCP clients that are no names of DNS. Any other might open a program that runs what the link says. */
const CLIENT_SCHEMES: readonly string[] = [
  "claude:",
  "cursor:",
  "lmstudio:",
  "vscode:",
  "vscode-insiders:",
  "windsurf:",
  "zed:",
];

/** A name of DNS, or an address: other hosts of URLs lead nowhere, and would be cut on the page, or end a rule of its policy. */
const WEB_HOST = /^(?:[a-z\d._-]{1,253}|\[[a-f\d:.]+\])$/;

/** The hosts of RFC 8252, at which any port is that of the client. */
const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function requireRedirect(uri: string): void {
  const url = uri.length <= MAX_URI_LENGTH ? URL.parse(uri) : null;
  const refuse = (why: string) => metadataError(`a redirect URI ${why}`, "invalid_redirect_uri");
  if (url === null) throw refuse(`is no URI of at most ${MAX_URI_LENGTH} characters`);
  if (uri.includes("#")) throw refuse("has a fragment");
  if (url.username !== "" || url.password !== "") throw refuse("has a user name");
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (isWeb && !WEB_HOST.test(url.hostname)) throw refuse("has a host that is no name of DNS and no address");
  const isLoopback = LOOPBACK_HOSTS.includes(url.hostname);
  if (url.protocol === "http:" && !isLoopback) throw refuse("is of http: and leads to another machine");
  if (url.protocol === "https:" && isLoopback) {
    throw refuse("is of https: and leads to the person's own machine");
  }
  if (!isWeb && !OWNED_SCHEME.test(url.protocol) && !CLIENT_SCHEMES.includes(url.protocol)) {
    throw refuse(
      `cannot be of ${url.protocol}, only of https:, http: on the own machine, or a scheme such as com.example.app:`,
    );
  }
}

/** Whether a client has a metadata document at its id, in place of a registration. */
export function isDocumentId(id: string): boolean {
  return id.startsWith("https:");
}

/** The clients that have registered themselves, and what the documents of connected ones said last. */
export class Clients {
  readonly #file: StateFile;
  readonly #now: () => number;

  constructor(file: StateFile, now: () => number = () => Date.now()) {
    this.#file = file;
    this.#now = now;
  }

  /**
   * Registers a client. The same metadata has the same id (RFC 7591, section 3.2.1): some programs register again whenever they
   * start. The id says nothing about the client, and is no secret.
   */
  register(metadata: ClientMetadata): string {
    const json = JSON.stringify(metadata);
    const id = createHmac("sha256", this.#file.keys.cookies).update(`client\n${json}`).digest()
      .subarray(0, ID_BYTES).toString("base64url");
    this.#file.transact(() => {
      const upsert = "INSERT INTO clients (id, metadata, used_at) VALUES (?, ?, ?) " +
        "ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at";
      this.#file.run(upsert, id, json, this.#now());
      const { count = 0 } = this.#file.get("SELECT count(*) AS count FROM clients") ?? {};
      if (Number(count) <= MAX_CLIENTS) return;
      this.#file.run(
        "DELETE FROM clients WHERE id IN (SELECT id FROM clients WHERE id <> ? AND NOT EXISTS " +
          "(SELECT 1 FROM grants WHERE client_id = clients.id) ORDER BY used_at LIMIT ?)",
        id,
        Number(count) - MAX_CLIENTS,
      );
    });
    return id;
  }

  find(id: string): Record<string, unknown> | undefined {
    const json = this.#file.get("SELECT metadata FROM clients WHERE id = ?", id)?.["metadata"];
    const metadata = typeof json === "string" ? parseJson(json) : undefined;
    try {
      return metadata === undefined ? undefined : { ...fullMetadata(id, parseClientMetadata(metadata)) };
    } catch (error) {
      if (error instanceof ClientMetadataError) return undefined;
      throw error;
    }
  }

  /** Keeps the metadata document of a client that somebody has connected, for when its host does not answer. */
  keepDocument(id: string, metadata: ClientMetadata): void {
    this.#file.run(
      "INSERT OR REPLACE INTO clients (id, metadata, used_at) SELECT ?1, ?2, ?3 " +
        "WHERE EXISTS (SELECT 1 FROM grants WHERE client_id = ?1)",
      id,
      JSON.stringify(metadata),
      this.#now(),
    );
  }

  /** Forgets what has had no grant for a while. */
  prune(): void {
    this.#file.run(
      "DELETE FROM clients WHERE used_at < ? AND NOT EXISTS (SELECT 1 FROM grants WHERE client_id = clients.id)",
      this.#now() - UNUSED_CLIENT_MS,
    );
  }
}
