import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** The icon of every sandbox app: the pictures of a draft aren't public. */
export const sandboxIconPath = "/media/sandbox-icon.png";

export const sandboxIcon: Buffer = readFileSync(new URL("./sandbox-icon.png", import.meta.url));
export const sandboxIconEtag: string = `"${createHash("sha256").update(sandboxIcon).digest("hex")}"`;
