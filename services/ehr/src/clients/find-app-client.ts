import type { AppClientGrantDto, FindAppClientQuery } from "@ehr-marketplace/contracts";
import type { InstallationCache } from "../installations/installation-cache.ts";
import type { ActiveInstallation, OrganisationInstallations } from "../installations/read-installations.ts";
import { success } from "../responses.ts";
import type { ClientCache } from "./client-cache.ts";

export interface FindDeps {
  clients: Pick<ClientCache, "find">;
  installations: Pick<InstallationCache<OrganisationInstallations>, "getCurrent">;
}

const toResponse = (message: string, grant: AppClientGrantDto): Buffer =>
  Buffer.from(JSON.stringify(success(message, grant)));

/** All reasons are alike, so that the response tells nothing about other organisations. */
const inactive = toResponse("The client is not active for the organisation.", {
  active: false,
  appSlug: null,
  subscriptionId: null,
  fhirScopes: null,
});

/** Serialised once for each cached installation: an authorization server asks at every token. */
const responses = new WeakMap<ActiveInstallation, Buffer>();

function responseFor(installation: ActiveInstallation): Buffer {
  const known = responses.get(installation);
  if (known !== undefined) return known;
  const response = toResponse("The client is active for the organisation.", { active: true, ...installation });
  responses.set(installation, response);
  return response;
}

/** Whether a client may have tokens for an organisation's data, and with which scopes: the body of the response. */
export async function findAppClient(
  { clients, installations }: FindDeps,
  { clientId, orgAlias }: FindAppClientQuery,
): Promise<Buffer> {
  const client = await clients.find(clientId);
  if (client === undefined || (client.orgAlias !== null && client.orgAlias !== orgAlias)) return inactive;
  const installation = (await installations.getCurrent(orgAlias)).getActive(client.appSlug);
  return installation === undefined ? inactive : responseFor(installation);
}
