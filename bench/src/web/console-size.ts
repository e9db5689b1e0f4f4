import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Figure } from "../figures.ts";

type Manifest = Record<string, { file: string; imports?: string[] }>;

const manifestFile = new URL("../../../services/web/dist/console/manifest.json", import.meta.url);

/** The URLs of a module's script and of all scripts that it imports. */
function listScripts(manifest: Manifest, name: string, found = new Map<string, string>()): Map<string, string> {
  const entry = manifest[name];
  if (entry === undefined) throw new Error(`The build of the console has no ${name}`);
  if (found.has(name)) return found;
  found.set(name, `/${entry.file}`);
  for (const imported of entry.imports ?? []) listScripts(manifest, imported, found);
  return found;
}

/** What a browser loads until the console shows its overview: scripts and styles, compressed by gzip. */
export async function consoleSize(webUrl: string): Promise<Figure[]> {
  const html = await (await fetch(`${webUrl}/console`)).text();
  const named = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, url = ""]) => url);
  const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as Manifest;
  const overview = Object.keys(manifest).find((name) => name.endsWith("overview-page.tsx")) ?? "overview-page.tsx";
  const urls = new Set([...named, ...listScripts(manifest, overview).values()]);
  let bytes = 0;
  for (const url of urls) {
    const response = await fetch(`${webUrl}${url}`);
    if (!response.ok) throw new Error(`${response.status} for ${url}`);
    bytes += gzipSync(await response.bytes(), { level: 9 }).length;
  }
  return [
    {
      name: "2 console, first load, kB gzip",
      measured: `${(bytes / 1_000).toFixed(1)} kB, files: ${urls.size}`,
      reference: "",
      value: bytes / 1_000,
      goal: { atMost: 250 },
    },
  ];
}
