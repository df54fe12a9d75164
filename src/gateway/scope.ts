/** What a client of the gateway reaches. */

/** Everything; everything, but by searching; or one Computer. */
export type Scope =
  | { readonly kind: "all" }
  | { readonly kind: "search" }
  | { readonly kind: "computer"; readonly computer: string };
