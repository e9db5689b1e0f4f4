import { checkTarget, type Resolve } from "@ehr-marketplace/outbound-http";
import type { Configuration } from "oidc-provider";
import { loopbackNetworks } from "../service-environments.ts";

type Fetch = NonNullable<Configuration["fetch"]>;

/** Of responses, in bytes. A client's metadata document has at most 5 KiB by the specification. */
export const clientFetchLimits = { "client_id metadata document": 5 * 1024, jwks_uri: 64 * 1024 };

const loopbackHosts = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Returns the function that fetches what vendors name: the keys of their apps, and metadata documents. A URL must be https and
 * public, or on this machine's loopback, where the local stack's apps are. The provider limits time (2.5 s) and size.
 */
export function createClientFetch(resolve: Resolve): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const refusal = await checkTarget(url.href, loopbackNetworks, resolve);
    if (refusal !== undefined) throw new Error(`${url.host} is refused: ${refusal}`);
    // The provider's dispatcher closes connections to addresses that aren't public, also if a name's address changes after the check.
    const { dispatcher, ...request } = init;
    const isLoopback = loopbackHosts.has(url.hostname);
    return fetch(url, {
      ...request,
      ...(isLoopback || dispatcher === undefined ? {} : { dispatcher }),
      redirect: "error",
    });
  };
}
