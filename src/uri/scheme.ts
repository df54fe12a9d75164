/** Telling the protocol's URIs from others by their scheme alone. */

const WINDOW_SCHEME = /^window:/i;
const DPE_SCHEME = /^dpe:/i;

/** Whether `uri` has the scheme `window`, in whatever case; says nothing about the rest of it. */
export function hasWindowScheme(uri: string): boolean {
  return WINDOW_SCHEME.test(uri);
}

/** Whether `uri` has the scheme `dpe`, in whatever case; says nothing about the rest of it. */
export function hasDpeScheme(uri: string): boolean {
  return DPE_SCHEME.test(uri);
}
