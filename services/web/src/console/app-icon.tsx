import { useState } from "react";

/** An app's icon, beside its name. Only web addresses are loaded; that of a suspended app can't be. */
export function AppIcon({ url, size }: { url: string | undefined; size: 24 | 32 | 40 | 56 }) {
  const [failed, setFailed] = useState<string>();
  const protocol = url === undefined ? undefined : URL.parse(url)?.protocol;
  if ((protocol !== "https:" && protocol !== "http:") || url === failed) return null;
  return (
    <img
      className="icon"
      src={url}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      decoding="async"
      onError={() => setFailed(url)}
    />
  );
}
