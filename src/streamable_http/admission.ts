/** Who may speak to an MCP server over HTTP: host, origin and bearer token of a request. */
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { JsonBody } from "./bounded_body.ts";
import { httpError } from "./http_error.ts";

/** Whom to admit. */
export interface AdmissionOptions {
  /** The token that every request must bear; nobody needs one when absent. */
  readonly token?: string | undefined;
  /** Host names of the MCP server besides `localhost` and loopback addresses, without a port. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of the pages that may use it, such as `https://app.example.com`, besides those of this machine. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export interface AdmittedRequest extends JsonBody {
  /** Its method, headers and signal. The body was read. */
  readonly request: Request;
  /** What is freed when the answer has been sent, its reader is gone, or there is none. */
  readonly ending: DisposableStack;
}

/** Judges requests. A page of another site never reaches the MCP server, whatever its address resolves to. */
export class Admission {
  readonly #hosts: string[];
  readonly #origins: ReadonlySet<string>;
  readonly #token: Promise<Uint8Array> | undefined;

  /** Throws a TypeError for an origin that no page can have. */
  constructor({ token, allowedHosts = [], allowedOrigins = [] }: AdmissionOptions) {
    this.#hosts = [...localhostAllowedHostnames(), ...allowedHosts];
    this.#origins = new Set(allowedOrigins.map(checkOrigin));
    this.#token = token === undefined ? undefined : digest(token);
  }

  refuseAddress({ headers }: Request): Response | undefined {
    const host = validateHostHeader(headers.get("host"), this.#hosts);
    if (!host.ok) {
      return httpError(403, `Cannot serve this host: ${host.message}. Allow it with --allow-host`);
    }
    const given = headers.get("origin");
    if (given !== null && this.#origins.has(given)) return undefined;
    const origin = validateOriginHeader(given, localhostAllowedOrigins());
    if (origin.ok) return undefined;
    return httpError(
      403,
      `Cannot serve a page of the origin "${given}": allow it with --allow-origin`,
    );
  }

  async refuseToken({ headers }: Request): Promise<Response | undefined> {
    if (this.#token === undefined) return undefined;
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (given !== "" && isSame(await digest(given), await this.#token)) return undefined;
    const challenge = {
      "www-authenticate": `Bearer realm="a2c-smcp"${given === "" ? "" : ', error="invalid_token"'}`,
    };
    const what = given === "" ? "it has no bearer token" : "its bearer token is wrong";
    return httpError(401, `Cannot serve this request: ${what}`, { headers: challenge });
  }
}

/** An origin is compared as a whole: another scheme or port is another page. */
export function checkOrigin(text: string): string {
  if (URL.parse(text)?.origin === text) return text;
  throw new TypeError(
    `Cannot allow origin "${text}": write it as a browser does, such as "https://app.example.com"`,
  );
}

async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

/** Takes the same time whatever differs. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
}
