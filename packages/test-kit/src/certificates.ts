import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** DER: a type, a length, and what is inside. */
function der(type: number, ...inside: Buffer[]): Buffer {
  const content = Buffer.concat(inside);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}

const sequence = (...inside: Buffer[]): Buffer => der(0x30, ...inside);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(identifier("550403"), der(0x0c, Buffer.from(name)))));
const time = (at: Date): Buffer => der(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, "")));
const ecdsaWithSha256 = sequence(identifier("2a8648ce3d040302"));

function extensions(names: readonly string[], isAuthority: boolean): Buffer {
  const alternatives = names.map((name) =>
    /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name)),
  );
  const subjectAlternatives = sequence(identifier("551d11"), der(0x04, sequence(...alternatives)));
  const constraints = isAuthority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence();
  const basicConstraints = sequence(identifier("551d13"), der(0x01, Buffer.from([0xff])), der(0x04, constraints));
  return der(0xa3, sequence(basicConstraints, ...(names.length > 0 ? [subjectAlternatives] : [])));
}

export interface Certificate {
  cert: string;
  key: string;
  name: string;
  privateKey: KeyObject;
}

const day = 24 * 60 * 60 * 1_000;
let serial = 0;

/** A certificate for the names, signed by another, or by itself. */
export function issue(options: { names: string[]; by?: Certificate; from?: number; until?: number }): Certificate {
  const { names, by, from = Date.now() - day, until = Date.now() + day } = options;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  serial += 1;
  const name = names[0] ?? `authority ${serial}`;
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0x01, serial])),
    ecdsaWithSha256,
    commonName(by?.name ?? name),
    sequence(time(new Date(from)), time(new Date(until))),
    commonName(name),
    publicKey.export({ type: "spki", format: "der" }),
    extensions(names, names.length === 0),
  );
  const signature = sign("sha256", content, by?.privateKey ?? privateKey);
  const whole = sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    name,
    privateKey,
  };
}
