import { readFile } from "node:fs/promises";

interface Vector {
  name: string;
  body: string;
  signature: string;
  valid: boolean;
}

export interface Vectors {
  marketplace: (Vector & { secret: string })[];
  standard: (Vector & { signedBy?: string[]; secrets: string[]; id: string; timestamp: string; now: number })[];
}

export const vectorsFile = new URL("../vectors.json", import.meta.url);

export const vectors = JSON.parse(await readFile(vectorsFile, "utf8")) as Vectors;
