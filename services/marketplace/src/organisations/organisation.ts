import { randomBytes } from "node:crypto";
import { BlockList, isIP, isIPv6 } from "node:net";
import { isAdmitted } from "@ehr-marketplace/service-kit/addresses";

/** In the form that Standard Webhooks gives secrets, so that its libraries take it as it is. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

const standardSecret = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** A secret of the form that Standard Webhooks gives them is decoded before it signs: it must hold a key then. */
export function isUsableSecret(secret: string): boolean {
  if (!secret.startsWith("whsec_")) return true;
  return Buffer.from(standardSecret.exec(secret)?.[1] ?? "", "base64").length >= 16;
}

/** Names the row that a sealed secret belongs to. */
export const secretOwner = (id: string): string => `organisations/${id}/secret`;

/** Why this URL can't be an organisation's callback, or nothing where it can. Names are judged when they are resolved. */
export function whyNoCallback(callbackUrl: string, networks: readonly string[]): string | undefined {
  if (!URL.canParse(callbackUrl)) return "is not a URL";
  // Held against the text, because that is what a path is added to: the parser would take https:host and HTTPS://host
  // for the same, and drop a query that is empty.
  if (!/^https?:\/\/[^/]/.test(callbackUrl)) return "must begin with https:// or http://";
  const url = new URL(callbackUrl);
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  if (/[?#]/.test(callbackUrl)) return "must have neither a query nor a fragment: a path is added to it";
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(address) !== 0;
  if (url.protocol === "http:" && (isAddress ? !isWithin(address, networks) : networks.length === 0)) {
    return "must begin with https://, except where callbackNetworks names the private network that it is in";
  }
  if (isAddress && !isAdmitted(address, networks)) {
    return "has an address that is neither public nor in callbackNetworks";
  }
  return undefined;
}

const family = (address: string): "ipv4" | "ipv6" => (isIPv6(address) ? "ipv6" : "ipv4");

function isWithin(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [first = "", bits] = network.split("/");
    list.addSubnet(first, Number(bits), family(first));
  }
  return list.check(address, family(address));
}
