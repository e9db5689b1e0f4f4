// A mirror of the package registry may lack the builds of a tool for platforms that nobody here uses. npm then leaves them
// out of the lock file, and `npm ci` refuses that file everywhere. This puts them in, as npm itself would have.
import { readFile, writeFile } from "node:fs/promises";

interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = ["android", "darwin", "linux", "win32", "freebsd", "openharmony", "sunos", "aix", "netbsd", "openbsd"];
const processors = ["arm64", "x64", "ia32", "riscv64", "ppc64", "s390x", "loong64", "wasm32", "mips64el", "arm"];

const path = new URL("../../package-lock.json", import.meta.url);
const lock = JSON.parse(await readFile(path, "utf8")) as { packages: Record<string, LockedPackage> };

function platformOf(name: string): Pick<LockedPackage, "os" | "cpu" | "libc"> {
  const parts = name.split(/[-/]/);
  const os = systems.find((system) => parts.includes(system) || (system === "win32" && parts.includes("windows")));
  const cpu = processors.find((processor) => parts.includes(processor));
  const libc = parts.some((part) => part.startsWith("musl"))
    ? "musl"
    : parts.some((part) => part.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(libc && os === "linux" && { libc: [libc] }), ...(os && { os: [os] }) };
}

let added = 0;
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined || !/^\d/.test(version)) continue;
    lock.packages[key] = { version, ...(parent.dev === true && { dev: true }), optional: true, ...platformOf(name) };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
await writeFile(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages added to package-lock.json`);
