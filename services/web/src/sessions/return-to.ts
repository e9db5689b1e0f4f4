/** Of the URL, in which a character of the path given can be nine. Longer ones aren't kept: they are in a cookie while the user signs in. */
const maxLength = 1_000;
/** Not pages: they are for the sign-in itself, and for scripts. */
const unsuitable = /^\/(?:login|callback|logout|bff)(?:\/|$)/;

/**
 * The URL to return to after sign-in: always one of ours, whatever was given. It is absolute, because a path such as `//evil.example`,
 * which `/.//evil.example` is parsed to, would lead elsewhere.
 */
export function resolveReturnTo(given: string | undefined, publicUrl: string): string {
  const home = new URL("/", publicUrl);
  if (given === undefined || !given.startsWith("/")) return home.href;
  const url = URL.parse(given, home.href);
  if (url === null || url.origin !== home.origin || url.href.length > maxLength) return home.href;
  return unsuitable.test(url.pathname) ? home.href : url.href;
}
