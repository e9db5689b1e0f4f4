import { type ClientMetadata, maxClientMetadataBytes, slugPattern } from "@ehr-marketplace/contracts";
import { buildClientMetadata, measureClientMetadata } from "@ehr-marketplace/listing-rules";
import {
  createRepresentation,
  Problem,
  type Representation,
  type ResponseCache,
} from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { requireSandboxApp } from "../sandbox/read-sandbox-app.ts";
import { connectionProblems } from "./connection-errors.ts";
import { type ClientRow, findPublishedClient, findSandboxClient } from "./connection-store.ts";

export interface ClientDeps {
  database: Kysely<DB>;
  responseCache: ResponseCache;
  publicUrl: string;
  /** Of the paths of the API. */
  prefix: string;
}

const slugRegExp = new RegExp(slugPattern);

/**
 * The client of an app, from its published revision. An unpublished app has one, because its subscribers stay; an app that is suspended
 * with its subscriptions has none until it is reinstated.
 */
export async function getClient(deps: ClientDeps, slug: string): Promise<Representation> {
  if (!slugRegExp.test(slug)) throw neverPublished();
  const cached = await deps.responseCache.getOne(slug, `client ${slug}`, async () => {
    const found = await findPublishedClient(deps.database, slug);
    if (found === undefined) throw neverPublished();
    const client = found.isSuspendedForSecurity ? suspended(slug) : buildClient(deps, `apps/${slug}`, found);
    const representation = createRepresentation(JSON.stringify(client), {
      contentType: "application/json",
      cacheControl: "public, max-age=60",
    });
    if (client instanceof Problem) refusals.set(representation, client);
    return representation;
  });
  const refusal = refusals.get(cached);
  if (refusal !== undefined) throw refusal;
  return cached;
}

/** Why an app has no client, cached like a client: reading its revision takes time, and anyone may ask. */
const refusals = new WeakMap<Representation, Problem>();

const suspended = (slug: string): Problem =>
  new Problem(connectionProblems.clientSuspended, `The app ${slug} is suspended, and so are its subscriptions.`);

/** The client of a sandbox app, from the draft as it is installed. Who may read the app may read it. */
export async function getSandboxClient(
  deps: Omit<ClientDeps, "responseCache">,
  caller: Caller,
  slug: string,
): Promise<ClientMetadata> {
  await requireSandboxApp(deps.database, caller, slug);
  const found = await findSandboxClient(deps.database, slug);
  if (found === undefined) throw new Error("a sandbox app has no client row");
  const client = buildClient(deps, `sandbox-apps/${slug}`, found);
  if (client instanceof Problem) throw client;
  return client;
}

function buildClient(
  { publicUrl, prefix }: Pick<ClientDeps, "publicUrl" | "prefix">,
  path: string,
  { draft, appId, iconUrl }: Omit<ClientRow, "isSuspendedForSecurity">,
): ClientMetadata | Problem {
  const clientId = `${publicUrl}${prefix}/${path}/client`;
  const metadata = buildClientMetadata({ draft, clientId, appId, logoUri: iconUrl });
  if (metadata === undefined) {
    const missing = draft.oauth === undefined ? "The app has no oauth" : "The app's oauth allows no usable grant";
    return clientNotFound(`${missing}: its vendor hasn't said how it signs in.`);
  }
  const bytes = measureClientMetadata(metadata);
  if (bytes > maxClientMetadataBytes) {
    return clientNotFound(`The client's metadata has ${bytes} bytes; the limit is ${maxClientMetadataBytes}.`);
  }
  return metadata;
}

const clientNotFound = (detail: string): Problem => new Problem(connectionProblems.clientNotFound, detail);
const neverPublished = (): Problem => clientNotFound("No app with that slug has been published.");
