const privateSuffixes = [
  ".corp",
  ".home",
  ".home.arpa",
  ".internal",
  ".intranet",
  ".lan",
  ".local",
  ".localhost",
  ".private",
  ".svc",
];

/**
 * Whether a host is a public name: no IP address, no wildcard, and no name of a private network. The URL parser has decoded percent-encoding
 * and IDNA, and has turned every notation of an IPv4 address into four decimal numbers.
 */
export function isPublicHost({ hostname }: URL): boolean {
  const name = hostname.replace(/\.$/, "");
  const isName = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) && !/^[\d.]+$/.test(name);
  return isName && !privateSuffixes.some((suffix) => `.${name}`.endsWith(suffix));
}
