/** An app's icon, beside its name. Only web addresses are loaded. */
export function AppIcon({ url, size }: { url: string | undefined; size: 24 | 32 | 40 | 56 }) {
  const protocol = url === undefined ? undefined : URL.parse(url)?.protocol;
  if (protocol !== "https:" && protocol !== "http:") return null;
  return <img className="icon" src={url} alt="" width={size} height={size} loading="lazy" decoding="async" />;
}
