/** The credentials of an open connection: they end, and newer ones may take their place before that. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { CREDENTIALS_EXPIRING_NOTIFICATION } from "../../protocol/events.ts";
import type { Farewell } from "../../protocol/farewell.ts";
import { VERSION_QUERY_PARAMETER } from "../../protocol/version.ts";
import { type Grant, isGranted, type WantedSeat } from "../auth/grant.ts";
import type { Permit, PermitWatch } from "../auth/permit.ts";
import { type Audit, LoggedRefusal } from "../observe/audit.ts";
import type { Member } from "../offices.ts";
import type { Credentials } from "../auth/provider.ts";
import { MIN_RENEWAL_INTERVAL_MS } from "../limits.ts";
import { AdmissionError, type AdmissionOptions, admit, type Admitted, type Identity } from "./admission.ts";

export interface Holder {
  readonly sid: string;
  readonly identity: Identity;
  readonly member: Pick<Member, keyof WantedSeat | "name"> | undefined;
  readonly isEnded: boolean;
  /** Released when the change of its membership that is under way has ended. */
  readonly held: { readonly released: Promise<void> } | undefined;
  grant: Grant | undefined;
  tell(event: string, body: unknown): void;
  dismiss(farewell: Farewell): void;
}

export interface LiveCredentialsContext extends Omit<AdmissionOptions, "signal" | "isRenewal"> {
  readonly permits: PermitWatch;
  readonly audit: Audit;
}

export class LiveCredentials {
  readonly #holder: Holder;
  readonly #context: LiveCredentialsContext;
  readonly #address: string;
  #stop = nothing;
  #triedAtMs = -Infinity;
  #asking: AbortController | undefined;

  /** @param options `address`: the IP address of the client. `context`: the same object for all connections. */
  constructor(
    holder: Holder,
    { address, context }: { readonly address: string; readonly context: LiveCredentialsContext },
  ) {
    this.#holder = holder;
    this.#address = address;
    this.#context = context;
  }

  /** Ends the connection when these credentials end, and tells it some time before they expire. */
  watch(permit: Permit): void {
    this.#stop();
    this.#stop = this.#context.permits.watch(permit, {
      onEnd: (farewell) => this.#holder.dismiss(farewell),
      onExpiring: (leftMs) => this.#warn(leftMs),
    });
  }

  /**
   * Puts newer credentials in the place of these, if they are of the same principal and allow its present membership.
   *
   * @throws {SmcpError} 401 when the provider refuses them, 503 when it fails, 403 when they do not fit, 400 during an attempt or so soon after it.
   */
  async renew(sent: Pick<Credentials, "auth" | "headers">): Promise<void> {
    this.#requirePause();
    const admitted = await this.#admit(sent);
    // A join that began with the old grant must not end after this check.
    while (this.#holder.held !== undefined) await this.#holder.held.released;
    if (this.#holder.isEnded) return;
    const { identity, member } = this.#holder;
    const { grant } = admitted.permit;
    if (admitted.identity.principal !== identity.principal) {
      throw forbidden("Cannot renew the credentials: they are of another principal");
    }
    if (member !== undefined && grant !== undefined && !isGranted(grant, member)) {
      throw forbidden("Cannot renew the credentials: the new ones do not allow this membership");
    }
    this.#holder.grant = grant;
    this.#record(admitted.permit);
    this.watch(admitted.permit);
  }

  close(): void {
    this.#stop();
    this.#asking?.abort(new AdmissionError("Closed before the decision"));
  }

  #record({ expiresAtMs }: Permit): void {
    const { sid, identity: { principal }, member } = this.#holder;
    // A provider may say Infinity.
    const expires = Number.isFinite(expiresAtMs) ? new Date(Number(expiresAtMs)).toJSON() : undefined;
    const fields = { sid, principal, office: member?.officeId, name: member?.name, expires };
    this.#context.audit.write("info", "renewed the credentials", { action: "renew", fields });
  }

  async #admit(sent: Pick<Credentials, "auth" | "headers">): Promise<Admitted> {
    const asking = this.#asking = new AbortController();
    const { version } = this.#holder.identity;
    const query = version === undefined ? {} : { [VERSION_QUERY_PARAMETER]: version };
    try {
      const options = { ...this.#context, signal: asking.signal, isRenewal: true };
      return await admit({ ...sent, query, address: this.#address }, options).catch(toRefusal);
    } finally {
      this.#asking = undefined;
    }
  }

  #requirePause(): void {
    const nowMs = performance.now();
    const isTooSoon = nowMs - this.#triedAtMs < MIN_RENEWAL_INTERVAL_MS;
    if (isTooSoon || this.#asking !== undefined) {
      throw new SmcpError(
        ErrorCode.BAD_REQUEST,
        "Cannot renew the credentials: the last attempt was just now",
      );
    }
    this.#triedAtMs = nowMs;
  }

  #warn(leftMs: number): void {
    try {
      this.#holder.tell(CREDENTIALS_EXPIRING_NOTIFICATION, { expires_in_ms: Math.round(leftMs) });
    } catch {
      // The peer has too many unread bytes. It is told again.
    }
  }
}

/** One function for all connections. */
function nothing(): void {}

function toRefusal(error: unknown): never {
  if (error instanceof AdmissionError) throw new LoggedRefusal(error.data.code, error.message, error);
  throw error;
}

function forbidden(message: string): SmcpError {
  return new SmcpError(ErrorCode.FORBIDDEN, message);
}
