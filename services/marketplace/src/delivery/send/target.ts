import { Failure } from "./failure.ts";

export interface Target {
  origin: string;
  secure: boolean;
  /** A name or an address, the latter without brackets. */
  hostname: string;
  port: number;
  path: string;
}

/** Parses the URL, which normalises every notation of an address, such as 0x7f.1. */
export function readTarget(text: string): Target {
  const url = URL.parse(text);
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!usable || url.port === "0") throw new Failure("url-invalid");
  const secure = url.protocol === "https:";
  return {
    origin: url.origin,
    secure,
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: Number(url.port || (secure ? 443 : 80)),
    path: url.pathname + url.search,
  };
}
