/** Keys of machines, and proofs that a machine has its key: a JWT for one Server, now, in the manner of RFC 7523. */
import { createHash, createPublicKey, randomBytes } from "node:crypto";
import { isRecord } from "../json/json.ts";

// Loaded when it is used: most programs only look whether there is a key.
const jose = () => import("jose");

const ALGORITHM = "ES256";
const TYPE = "a2c-proof+jwt";
const MAX_PROOF_LENGTH = 2_048;
const ID_BYTES = 8;
const JTI_BYTES = 16;
/** How far from now the time of a proof may be, in milliseconds. */
const WINDOW_MS = 60_000;
/** The most proofs of one key that are remembered; each is good for two minutes at most. */
const MAX_SEEN = 300;

/** The public key of a machine. */
export interface MachineKey {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
}

export interface PrivateMachineKey extends MachineKey {
  readonly d: string;
}

export async function makeMachineKey(): Promise<PrivateMachineKey> {
  const { exportJWK, generateKeyPair } = await jose();
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const { x = "", y = "", d = "" } = await exportJWK(privateKey);
  return { kty: "EC", crv: "P-256", x, y, d };
}

/** The public part of a key; `undefined` for none that is on the curve. */
export function readMachineKey(value: unknown): MachineKey | undefined {
  const { kty, crv, x, y } = isRecord(value) ? value : {};
  if (kty !== "EC" || crv !== "P-256" || typeof x !== "string" || typeof y !== "string") return undefined;
  const key = { kty, crv, x, y } as const;
  try {
    createPublicKey({ key, format: "jwk" });
    return key;
  } catch {
    return undefined;
  }
}

/** The id of the machine that has a key: the beginning of its thumbprint (RFC 7638), in hexadecimal. */
export function machineIdOf({ crv, kty, x, y }: MachineKey): string {
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest();
  return thumbprint.subarray(0, ID_BYTES).toString("hex");
}

/** Whether a text has the form of the id of a machine. */
export function isMachineId(text: string): boolean {
  return text.length === 2 * ID_BYTES && /^[0-9a-f]+$/.test(text);
}

/** The audience of proofs for a Server: its URL, without a slash at its end. */
export function machineAudience(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin.replace(/^ws/, "http")}${pathname.replace(/\/+$/, "")}`;
}

export interface ProofTarget {
  /** The URL of the Server, as {@linkcode machineAudience} writes it. */
  readonly audience: string;
  /** What it is for: the wanted name of a machine, the handle of its join, or its id. */
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

export async function signProof(key: PrivateMachineKey, target: ProofTarget): Promise<string> {
  const { audience, subject, nowMs } = target;
  const { SignJWT } = await jose();
  return await new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(Math.floor(nowMs / 1_000))
    .setJti(randomBytes(JTI_BYTES).toString("base64url"))
    .sign({ ...key });
}

/** The proofs of one key that were seen, so that none counts twice. */
export class SeenProofs {
  readonly #endsMs = new Map<string, number>();

  /** Remembers the id of a proof; `false` for one that was seen, and when there are too many. */
  take(id: string, { endMs, nowMs }: { readonly endMs: number; readonly nowMs: number }): boolean {
    for (const [seen, seenEndMs] of this.#endsMs) if (seenEndMs < nowMs) this.#endsMs.delete(seen);
    if (this.#endsMs.has(id) || this.#endsMs.size >= MAX_SEEN) return false;
    this.#endsMs.set(id, endMs);
    return true;
  }
}

/** What a proof says that it is for, before it is verified; `undefined` for none. */
export async function subjectOf(proof: unknown): Promise<string | undefined> {
  const { decodeJwt } = await jose();
  try {
    return typeof proof === "string" && proof.length <= MAX_PROOF_LENGTH ? decodeJwt(proof).sub : undefined;
  } catch {
    return undefined;
  }
}

/** Why a proof is refused, for the machine to read; `undefined` for one that counts. */
export async function proofProblem(
  proof: string,
  { key, seen, ...target }: ProofTarget & { readonly key: MachineKey; readonly seen: SeenProofs },
): Promise<string | undefined> {
  const { audience, subject, nowMs } = target;
  const { errors, jwtVerify } = await jose();
  try {
    const { payload: { iat = 0, jti = "" } } = await jwtVerify(proof, { ...key }, {
      algorithms: [ALGORITHM],
      typ: TYPE,
      audience,
      subject,
      requiredClaims: ["iat", "jti"],
      currentDate: new Date(nowMs),
    });
    const offS = Math.round(Math.abs(nowMs / 1_000 - iat));
    if (offS * 1_000 > WINDOW_MS) return `the clock of this machine differs by ${offS} seconds; set it`;
    return seen.take(jti, { endMs: iat * 1_000 + 2 * WINDOW_MS, nowMs })
      ? undefined
      : "the proof was used before";
  } catch (error) {
    const isForOther = error instanceof errors.JWTClaimValidationFailed && error.claim === "aud";
    return isForOther ? "the proof is for another Server" : WRONG_PROOF;
  }
}

/** The same for every reason that a stranger could learn something from. */
export const WRONG_PROOF = "no such machine, or the proof is not of its key";
