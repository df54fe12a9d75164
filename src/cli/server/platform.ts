/** What the Server says about the platform that it runs on. */

const DEPLOY_VARIABLES: readonly string[] = ["DENO_DEPLOYMENT_ID", "DENO_DEPLOY"];

/**
 * Returns a warning where a platform runs several processes of this Server that share nothing.
 *
 * @param env Reads an environment variable.
 * @param context `isClustered`: whether the processes share their offices.
 */
export function platformWarning(
  env: (name: string) => string | undefined,
  { isClustered }: { readonly isClustered: boolean },
): string | undefined {
  if (isClustered || !DEPLOY_VARIABLES.some((name) => env(name))) return undefined;
  return "offices live in one instance: Deno Deploy may run several, and members of one office may not meet; " +
    "give --redis to share offices";
}
