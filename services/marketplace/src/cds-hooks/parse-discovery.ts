import { isHookName } from "@ehr-marketplace/listing-rules";
import type { OutboundResult } from "@ehr-marketplace/outbound-http";

export type DiscoveredHooks = { hooks: string[] } | { failure: string };

/** The specification and its registry have about a dozen. */
const maxHooks = 100;

/**
 * Returns the hooks of the services that a discovery response lists, or why there are none, in words of ours: nothing of the response is
 * returned but names of hooks. Services for hooks that no extension point can name are left out.
 */
export function parseDiscovery(result: OutboundResult): DiscoveredHooks {
  if (result.outcome === "failed") return { failure: `the request failed (${result.stage}: ${result.reason})` };
  const { statusCode, text } = result;
  if (statusCode >= 300 && statusCode < 400) {
    return { failure: `the server responded with status ${statusCode}, and redirects aren't followed` };
  }
  if (statusCode !== 200) return { failure: `the server responded with status ${statusCode}` };
  if (text === null) return { failure: "the response has more than 64 KiB" };
  const services = parseServices(text);
  if ("failure" in services) return services;
  const hooks = new Set(services.list.map(hookOf).filter((hook) => hook !== undefined));
  if (hooks.size > maxHooks) return { failure: `the services are for more than ${maxHooks} hooks` };
  return { hooks: [...hooks] };
}

function parseServices(text: string): { list: unknown[] } | { failure: string } {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {
    return { failure: "the response isn't JSON" };
  }
  const { services } = Object(response) as { services?: unknown };
  return Array.isArray(services) ? { list: services } : { failure: "the response has no list of services" };
}

function hookOf(service: unknown): string | undefined {
  const { hook } = Object(service) as { hook?: unknown };
  return typeof hook === "string" && isHookName(hook) ? hook : undefined;
}
