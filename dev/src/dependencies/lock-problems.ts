export interface LockedPackage {
  version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}

export interface Dependencies {
  /** By installation path, as in package-lock.json. */
  packages: Record<string, LockedPackage>;
  /** Whether the install script is run, by package name, as in package.json. */
  allowScripts: Record<string, boolean>;
}

/** Licences under which a dependency can be shipped with this project. */
const allowedLicences = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

const buildTool = "MPL-2.0: a tool that builds the pages of the web; nothing of it is in the result";
const testTool = "MPL-2.0: a tool of tests, which isn't shipped";
const libvips =
  "LGPL-3.0: the library libvips as a file of its own, which sharp loads when it runs, and which anyone can replace";

/** Packages that are used although their licence isn't in that list, each with the reason. */
const licenceExceptions: Record<string, string> = {
  "axe-core": testTool,
  "@fontsource-variable/inter": "OFL-1.1: the files of a font, which may be shipped with software of any licence",
  lightningcss: buildTool,
  "lightningcss-": buildTool,
  "@img/sharp-libvips-": libvips,
  "@img/sharp-wasm32": libvips,
  "@img/sharp-win32-": libvips,
};

/** A name, or a prefix that ends with a hyphen, for packages of one library for several platforms. */
function isException(name: string): boolean {
  return Object.keys(licenceExceptions).some((each) => (each.endsWith("-") ? name.startsWith(each) : name === each));
}

/** An SPDX expression without nested parentheses. */
function isAllowedLicence(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, "$1").split(" OR ");
  return alternatives.some((all) => all.split(" AND ").every((licence) => allowedLicences.has(licence)));
}

function findPackageProblems(path: string, locked: LockedPackage, allowScripts: Record<string, boolean>): string[] {
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  const { integrity, resolved, license, hasInstallScript } = locked;
  const problems = [
    integrity === undefined &&
      "has no integrity in package-lock.json: pin a version that the registry has for every platform",
    resolved !== undefined &&
      "is resolved to a host in package-lock.json: set omit-lockfile-registry-resolved and lock again",
    hasInstallScript === true &&
      !Object.hasOwn(allowScripts, name) &&
      "has an install script that isn't listed in allowScripts of package.json: read it, and list it with true or false",
    !isException(name) &&
      !isAllowedLicence(license ?? "") &&
      `has the licence ${license ?? "(none)"}, which isn't in the list of dev/src/dependencies/lock-problems.ts`,
  ];
  return problems.filter((problem) => problem !== false).map((problem) => `${path} ${problem}`);
}

/** Packages of which services run one copy, so that its defects have to be corrected in one place. `overrides` sees to that. */
const onceOnly = ["undici"];

function findSecondCopies(packages: Dependencies["packages"]): string[] {
  return onceOnly.flatMap((name) => {
    const paths = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
    return paths.length < 2
      ? []
      : [
          `${name} is locked ${paths.length} times: ${paths.join(", ")}. Give all of them one version, by overrides in package.json`,
        ];
  });
}

/** Lists the problems of all dependencies. The project's own workspaces are links and are skipped. */
export function findLockProblems({ packages, allowScripts }: Dependencies): string[] {
  const problems = Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
    .flatMap(([path, locked]) => findPackageProblems(path, locked, allowScripts));
  return [...problems, ...findSecondCopies(packages)];
}
