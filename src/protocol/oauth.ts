/** Where OAuth keeps the metadata of a resource (RFC 9728) and of an issuer (RFC 8414, OpenID Connect Discovery). */

export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource";
export const ISSUER_METADATA_PATH = "/.well-known/oauth-authorization-server";
const OPENID_METADATA_PATH = "/.well-known/openid-configuration";

/** The places of an issuer's metadata, in the order of the MCP specification. */
export function issuerMetadataUrls({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/+$/, "");
  const places = [
    `${ISSUER_METADATA_PATH}${path}`,
    `${OPENID_METADATA_PATH}${path}`,
    `${path}${OPENID_METADATA_PATH}`,
  ];
  return [...new Set(places)].map((place) => new URL(place, origin));
}
