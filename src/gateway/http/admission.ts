/** Who may speak to the gateway over HTTP: host, origin and bearer token of a request. */
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { httpError } from "./http_error.ts";

/** Whom to admit. */
export interface AdmissionOptions {
  /** The token that every request must bear; nobody needs one when absent. */
  readonly token?: string | undefined;
  /** Host names of the gateway besides `localhost` and loopback addresses, without a port. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of the pages that may use it, besides those of this machine. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Judges requests. A page of another site never reaches the gateway, whatever its address resolves to. */
export class Admission {
  readonly #hosts: string[];
  readonly #origins: string[];
  readonly #token: Promise<Uint8Array> | undefined;

  constructor({ token, allowedHosts = [], allowedOrigins = [] }: AdmissionOptions) {
    this.#hosts = [...localhostAllowedHostnames(), ...allowedHosts];
    this.#origins = [...localhostAllowedOrigins(), ...allowedOrigins];
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Why the host or the origin of a request is refused; `undefined` when they are not. */
  refuseAddress({ headers }: Request): Response | undefined {
    const host = validateHostHeader(headers.get("host"), this.#hosts);
    if (!host.ok) {
      return httpError(403, `Cannot serve this host: ${host.message}. Allow it with --allow-host`);
    }
    const origin = validateOriginHeader(headers.get("origin"), this.#origins);
    if (origin.ok) return undefined;
    return httpError(
      403,
      `Cannot serve a page of this origin: ${origin.message}. Allow it with --allow-origin`,
    );
  }

  /** Why the token of a request is refused; `undefined` when it is right, or none is needed. */
  async refuseToken({ headers }: Request): Promise<Response | undefined> {
    if (this.#token === undefined) return undefined;
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (given !== "" && isSame(await digest(given), await this.#token)) return undefined;
    const challenge = {
      "www-authenticate": `Bearer realm="a2c-smcp"${given === "" ? "" : ', error="invalid_token"'}`,
    };
    const what = given === "" ? "it has no bearer token" : "its bearer token is wrong";
    return httpError(401, `Cannot serve this request: ${what}`, challenge);
  }
}

async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

/** Takes the same time whatever differs. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
}
