import type { ListingDraft } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";

/** What a discovery URL (`cdsServicesUrl`) returned when it was read last: the hooks of its services, or why they aren't known. */
export type CdsDiscovery = {
  url: string;
  /** When it was read, in UTC, for example 2026-11-16T09:30:00.000Z. */
  at: string;
} & ({ hooks: readonly string[] } | { failure: string });

/** An extension point has at most 100 characters, of which `cds:` are four. */
const maxHookLength = 96;
const hookName = /^[a-z]+(-[a-z]+)*$/;

/** Whether an extension point can name the hook. Names with a reverse domain, of hooks that a vendor invented, can't be named. */
export const isHookName = (name: string): boolean => name.length <= maxHookLength && hookName.test(name);

const prefix = "cds:";

/** The hook that an extension point names; undefined if it is another kind of extension point. */
export function findHook(extensionPoint: string): string | undefined {
  if (!extensionPoint.startsWith(prefix)) return undefined;
  const name = extensionPoint.slice(prefix.length);
  return isHookName(name) ? name : undefined;
}

export const namesHooks = ({ extensionPoints = [] }: Pick<ListingDraft, "extensionPoints">): boolean =>
  extensionPoints.some((point) => findHook(point) !== undefined);

/** Compares the hooks that a draft names with those of the services that were discovered. All are warnings: a server may be down for a day. */
export function checkCdsHooks(draft: ListingDraft, discovery: CdsDiscovery | null, report: Report): void {
  const { extensionPoints = [], cdsServicesUrl } = draft;
  if (cdsServicesUrl === undefined || !namesHooks(draft)) return;
  if (discovery === null || discovery.url !== cdsServicesUrl) {
    const detail =
      "The marketplace hasn't read the services at this URL: it does when the draft is installed in a sandbox organisation.";
    return report("/cdsServicesUrl", "cds-not-discovered", detail);
  }
  const { at } = discovery;
  if ("failure" in discovery) {
    const detail = `The services couldn't be read at ${at}: ${discovery.failure}. Correct it, and install the draft in a sandbox organisation again.`;
    return report("/cdsServicesUrl", "cds-discovery-failed", detail);
  }
  const discovered = new Set(discovery.hooks);
  const named = new Set<string>();
  for (const [index, point] of extensionPoints.entries()) {
    const hook = findHook(point);
    if (hook === undefined || named.has(hook)) continue;
    named.add(hook);
    if (discovered.has(hook)) continue;
    const detail = `At ${at}, cdsServicesUrl listed no service for this hook. Add the service or remove the extension point, and install the draft in a sandbox organisation again.`;
    report(`/extensionPoints/${index}`, "cds-hook-missing", detail);
  }
  for (const hook of discovered) {
    if (named.has(hook)) continue;
    const detail = `At ${at}, cdsServicesUrl listed a service for ${hook}. EHRs don't call it unless you add cds:${hook}.`;
    report("/extensionPoints", "cds-hook-unlisted", detail);
  }
}
