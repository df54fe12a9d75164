/** What a client of the gateway reaches. */

/** Everything; everything, but by searching; or one Computer. */
export type Scope =
  | { readonly kind: "all" }
  | { readonly kind: "search" }
  | { readonly kind: "computer"; readonly computer: string };

/** Whether a change may be of what a scope reaches. */
export function concerns(
  { computer }: { readonly computer?: string | undefined },
  scope: Scope,
): boolean {
  return scope.kind !== "computer" || computer === undefined || computer === scope.computer;
}
