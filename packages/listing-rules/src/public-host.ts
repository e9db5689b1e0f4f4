const privateSuffixes = [".local", ".internal", ".localhost"];

/**
 * Whether a host is a public name: no IP address, and no name of a private network. The URL parser has turned every notation of an IPv4
 * address into four decimal numbers.
 */
export function isPublicHost({ hostname }: URL): boolean {
  const name = hostname.replace(/\.$/, "");
  const isAddress = name.startsWith("[") || /^[\d.]+$/.test(name);
  return !isAddress && name.includes(".") && !privateSuffixes.some((suffix) => name.endsWith(suffix));
}
