/** Consent: a person proves the right to connect a client, sees who asks, and says what the client may do. */
import { BoundedMap } from "../async/bounded_collections.ts";
import { MAX_CLIENT_LENGTH } from "../protocol/call.ts";
import { skeletonOf } from "../protocol/look_alikes.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../protocol/rights.ts";
import { shorten } from "../text/text.ts";
import { CALL_SCOPE, READ_SCOPE, SCOPES } from "../http/mcp/resource_server.ts";
import type { HubAudit } from "./audit.ts";
import { hostOf, isDocumentId } from "./clients.ts";
import { type Exchange, originProblem, readForm, sendPage } from "./exchange.ts";
import type { Grants } from "./grants.ts";
import type { Invitation, Invitations } from "./invitations.ts";
import { type AskingClient, consentPage, problemPage, provePage } from "./page.ts";
import type { OAuthLibrary } from "./oauth_library.ts";
import type { StrangerQuotas } from "../http/quotas.ts";

/** The most consents that wait for a person who has proved the right; the oldest one gives way. */
const MAX_UNDER_WAY = 1_000;

/** A path of the hub that tokens are for. */
export interface HubResource {
  /** In the canonical spelling. */
  readonly url: string;
  /** All offices of the client when absent. */
  readonly office?: string | undefined;
  /** All Computers of the office when absent. */
  readonly computers?: readonly string[] | undefined;
}

/** Somebody who operates the hub. */
export interface Operator {
  readonly name: string;
  /** Those for which the person may consent, by their ids. */
  readonly offices: "all" | readonly string[];
}

/** Who consents by a code that was made for nobody by name. */
const ANYBODY = "an invited person";

export interface ConsentOptions {
  readonly publicUrl: string;
  readonly library: OAuthLibrary;
  readonly grants: Grants;
  readonly invitations: Invitations;
  readonly quotas: StrangerQuotas;
  readonly audit: HubAudit;
  readonly resourceOf: (url: URL) => HubResource | undefined;
  readonly computersOf?: ((office: string) => Promise<readonly string[] | undefined>) | undefined;
  readonly operator?: ((token: string) => Promise<Operator | undefined>) | undefined;
}

/** What a person has proved the right to; `rights` and `computers` are the most that may be allowed. */
interface Proof extends Omit<Invitation, "name"> {
  /** Who consents. */
  readonly name: string;
  /** The offices, of those that the client asks for. */
  readonly offices: readonly string[];
  /** The code of an invitation, which is used up by the consent. */
  readonly code?: string | undefined;
  /** The token of an operator, which may be removed before the consent. */
  readonly token?: string | undefined;
}

interface Asked {
  readonly uid: string;
  readonly clientId: string;
  readonly client: AskingClient;
  readonly resource: HubResource;
  /** The resource as the client has spelled it. */
  readonly indicator: string;
  readonly rights: readonly AccessRights[];
}

export class Consents {
  readonly #options: ConsentOptions;
  /** By the request for authorization, which the library ends. */
  readonly #proofs = new BoundedMap<string, Proof>(MAX_UNDER_WAY);

  constructor(options: ConsentOptions) {
    this.#options = options;
  }

  async answer(exchange: Exchange, uid: string): Promise<void> {
    const asked = await this.#read(exchange, uid);
    if (asked === "several resources") {
      this.#options.audit.refused({ request: "authorization", reason: asked, address: exchange.address });
      return sendPage(exchange, problemPage(SEVERAL_PATHS));
    }
    if (asked === undefined) return sendPage(exchange, problemPage(ENDED));
    if (exchange.request.method === "GET") return await this.#show(exchange, asked);
    if (exchange.request.method !== "POST") return sendPage(exchange, problemPage(NO_SUCH_METHOD));
    if (originProblem(exchange.request, this.#options.publicUrl)) {
      this.#refused(exchange, asked, "a page of another origin");
      return sendPage(exchange, problemPage(OTHER_ORIGIN));
    }
    const form = await readForm(exchange.request);
    switch (form?.get("step")) {
      case "prove":
        return await this.#prove(exchange, asked, form);
      case "allow":
        return await this.#allow(exchange, asked, form);
      case "deny":
        return await this.#refuse(exchange, asked, "the person has refused it");
      default:
        return sendPage(exchange, problemPage(BAD_FORM));
    }
  }

  async #read(
    { request, response }: Exchange,
    uid: string,
  ): Promise<Asked | "several resources" | undefined> {
    const { library, resourceOf } = this.#options;
    const interaction = await library.interaction(request, response);
    if (interaction === undefined || interaction.uid !== uid) return undefined;
    const { client_id: id, redirect_uri: redirectUri, resource: indicator, scope } = interaction.params;
    if (typeof id !== "string" || typeof redirectUri !== "string") return undefined;
    if (Array.isArray(indicator)) return "several resources";
    const resource = typeof indicator === "string" && URL.canParse(indicator)
      ? resourceOf(new URL(indicator))
      : undefined;
    const client = await library.client(id);
    if (client === undefined || resource === undefined || typeof indicator !== "string") return undefined;
    const asking = {
      name: client.clientName ?? hostOf(redirectUri),
      documentHost: isDocumentId(id) ? URL.parse(id)?.host : undefined,
      returnsTo: hostOf(redirectUri),
      redirectUri,
    };
    const rights: readonly AccessRights[] = String(scope).split(" ").includes(CALL_SCOPE)
      ? ACCESS_RIGHTS
      : ["read"];
    return { uid, clientId: id, client: asking, resource, indicator, rights };
  }

  async #show(exchange: Exchange, asked: Asked, problem?: string): Promise<void> {
    const { operator } = this.#options;
    const { client, resource: { office }, uid } = asked;
    const proof = this.#proofs.get(uid);
    if (proof !== undefined) return await this.#showChoice(exchange, { asked, proof, problem });
    sendPage(exchange, provePage({ client, office, problem, canSignIn: operator !== undefined }));
  }

  async #showChoice(
    exchange: Exchange,
    { asked, proof, problem }: {
      readonly asked: Asked;
      readonly proof: Proof;
      readonly problem: string | undefined;
    },
  ): Promise<void> {
    const { client } = asked;
    const computers = computersFor(asked.resource, proof);
    const offices = await Promise.all(proof.offices.map(async (name) => ({
      name,
      computers: computers ?? await this.#options.computersOf?.(name),
    })));
    const isChoice = offices.length > 1;
    const rights = rightsFor(asked, proof);
    sendPage(exchange, consentPage({ client, consentedBy: proof.name, offices, isChoice, rights, problem }));
  }

  async #prove(exchange: Exchange, asked: Asked, form: URLSearchParams): Promise<void> {
    const wait = this.#options.quotas.take("guess", exchange.address);
    if (wait !== undefined) {
      this.#refused(exchange, asked, "too many tries");
      return await this.#show(exchange, asked, `Too many tries: wait ${wait} seconds`);
    }
    const found = await this.#check(form);
    const isOther = found !== undefined && computersFor(asked.resource, found)?.length === 0;
    const offices = found === undefined || isOther ? [] : officesFor(asked.resource, found);
    if (found === undefined || offices.length === 0) {
      const why = found === undefined ? "wrong code or token" : "a code for other offices or Computers";
      this.#refused(exchange, asked, why);
      const otherwise = isOther
        ? OTHER_COMPUTER
        : asked.resource.office === undefined
        ? ANY_OFFICE
        : OTHER_OFFICE;
      return await this.#show(exchange, asked, found === undefined ? this.#wrongProof : otherwise);
    }
    this.#proofs.set(asked.uid, { ...found, offices });
    this.#options.quotas.know(exchange.address);
    await this.#show(exchange, asked);
  }

  get #wrongProof(): string {
    return this.#options.operator === undefined ? WRONG_CODE : WRONG_PROOF;
  }

  async #check(form: URLSearchParams): Promise<Operator & Omit<Proof, "offices"> | undefined> {
    const [code = "", token = ""] = ["code", "token"].map((name) => form.get(name)?.trim());
    const { invitations, operator } = this.#options;
    if (code !== "") {
      const invitation = invitations.find(code);
      return invitation && { ...invitation, name: invitation.name ?? ANYBODY, code };
    }
    const found = token === "" ? undefined : await operator?.(token);
    return found && { ...found, token };
  }

  /** Uses a code up, or looks whether an operator still has the right. */
  async #use({ code, token = "", offices }: Proof, { resource }: Asked): Promise<boolean> {
    const { invitations, operator } = this.#options;
    if (code !== undefined) return invitations.take(code);
    const found = await operator?.(token);
    const now = found === undefined ? [] : officesFor(resource, found);
    return offices.every((each) => now.includes(each));
  }

  async #allow(exchange: Exchange, asked: Asked, form: URLSearchParams): Promise<void> {
    const proof = this.#proofs.get(asked.uid);
    if (proof === undefined) return await this.#show(exchange, asked, this.#wrongProof);
    const rights = rightsFor(asked, proof).find((each) => each === form.get("rights"));
    const { offices: offered } = proof;
    const isChoice = offered.length > 1;
    const offices = isChoice ? offered.filter((each) => form.getAll("office").includes(each)) : offered;
    if (rights === undefined || offices.length === 0) {
      return await this.#show(exchange, asked, "Choose at least one office, and what the client may do");
    }
    // Of two forms at once, one alone is served.
    this.#proofs.delete(asked.uid);
    if (!await this.#use(proof, asked)) {
      this.#refused(exchange, asked, "a code that was used, or a token that was removed meanwhile");
      return await this.#show(exchange, asked, this.#wrongProof);
    }
    await this.#grant(exchange, asked, {
      offices,
      rights,
      computers: computersFor(asked.resource, proof),
      consentedBy: proof.name,
    });
  }

  async #grant(
    exchange: Exchange,
    { clientId, client, resource, indicator }: Asked,
    given: {
      readonly offices: readonly string[];
      readonly rights: AccessRights;
      readonly computers: readonly string[] | undefined;
      readonly consentedBy: string;
    },
  ): Promise<void> {
    const { grants, library, audit } = this.#options;
    const { returnsTo } = client;
    const { rights, offices, computers, consentedBy } = given;
    const name = toGrantName(client.name, consentedBy);
    const id = grants.add({
      ...given,
      clientId,
      client: name,
      returnsTo,
      resource: resource.url,
    });
    audit.log.info("a client was granted access", {
      grant: id,
      client: name,
      client_id: clientId,
      returns_to: returnsTo,
      resource: resource.url,
      offices,
      computers,
      rights,
      consented_by: consentedBy,
      address: exchange.address,
    });
    const scope = rights === "read" ? READ_SCOPE : SCOPES.join(" ");
    await library.allow(exchange, { id, clientId, resource: indicator, scope });
  }

  async #refuse(exchange: Exchange, asked: Asked, why: string): Promise<void> {
    this.#proofs.delete(asked.uid);
    this.#refused(exchange, asked, why);
    await this.#options.library.refuse(exchange, { error: "access_denied", description: why });
  }

  #refused({ address }: Exchange, { clientId, client, resource }: Asked, reason: string): void {
    const fields = { client: client.name, client_id: clientId, resource: resource.url };
    this.#options.audit.refused({ reason, address, ...fields });
  }
}

/**
 * What grants and Computers call a client: many have the same name, such as that of mcp-remote, so it says whose it is. Where a
 * name has something like that, what the hub adds stands at its end, whatever is cut.
 */
function toGrantName(client: string, person: string): string {
  const claims = skeletonOf(client.replace(/\s+/g, " ")).includes(" of ");
  if (person === ANYBODY && !claims) return client;
  const whose = ` of ${person === ANYBODY ? "somebody" : shorten(person, MAX_CLIENT_LENGTH / 2)}`;
  return `${shorten(client, MAX_CLIENT_LENGTH - 1 - whose.length)}${whose}`;
}

/** The offices that a client is offered, of those that it asks for; none of a path without an office whose person names none either. */
function officesFor({ office }: HubResource, { offices }: Operator): readonly string[] {
  if (office === undefined) return offices === "all" ? [] : offices;
  return offices === "all" || offices.includes(office) ? [office] : [];
}

/** The Computers that a client is offered; all when `undefined`. */
function computersFor({ computers }: HubResource, proof: Pick<Proof, "computers">): Proof["computers"] {
  if (computers === undefined || proof.computers === undefined) return computers ?? proof.computers;
  return computers.filter((each) => proof.computers?.includes(each));
}

/** The rights that a client is offered, of those that it asks for. */
function rightsFor({ rights }: Asked, { rights: most = "call" }: Proof): readonly AccessRights[] {
  return rights.filter((each) => ACCESS_RIGHTS.indexOf(each) <= ACCESS_RIGHTS.indexOf(most));
}

const WRONG_CODE = "This code is wrong, was used, or has expired";
const WRONG_PROOF = "This code or token is wrong, was used, or has expired";
const OTHER_OFFICE = "This code is for other offices";
const OTHER_COMPUTER = "This code is for other Computers";
const ANY_OFFICE =
  "This token is for any office, and the client names none. Connect it to the path of one, such as /mcp/o/lab, or use an invitation";
const ENDED = {
  status: 400,
  title: "This page has ended",
  text:
    "It was used, it is too old, or it belongs to another browser. Connect the client again from its own settings.",
};
const SEVERAL_PATHS = {
  status: 400,
  title: "Cannot connect the client",
  text: "The client asks for several paths of this hub at once, and a token is for one. Nothing was allowed.",
};
const OTHER_ORIGIN = {
  status: 403,
  title: "Not allowed",
  text: "Another page has sent this form. Nothing was allowed.",
};
const BAD_FORM = {
  status: 400,
  title: "The form could not be read",
  text: "Go back, and send it again.",
};
const NO_SUCH_METHOD = {
  status: 405,
  title: "Not allowed",
  text: "This page is read and sent by a browser.",
};
