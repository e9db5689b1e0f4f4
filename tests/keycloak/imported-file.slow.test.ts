import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Keycloak, startKeycloak } from "@ehr-marketplace/dev/keycloak";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { sendAsAdmin } from "./realm.ts";
import { newSecret, runGuideBelow, runPractices } from "./web-realm.ts";

const file = new URL("../../deploy/keycloak/marketplace-realm.json", import.meta.url).pathname;
const webUrl = "https://apps.example.com";
const secrets = { MARKETPLACE_WEB_CLIENT_SECRET: newSecret(), MARKETPLACE_EHR_CLIENT_SECRET: newSecret() };

interface ImportedClient {
  secret?: string;
  redirectUris: string[];
  baseUrl: string;
  attributes: Record<string, string>;
  protocolMappers: { name: string; config: Record<string, string> }[];
}

describe("a Keycloak that imports the realm's file when it starts", () => {
  const cleanUp = cleanUpAfter();
  let keycloak: Keycloak;
  let admin: Record<string, string>;
  before(async () => {
    const variables = { MARKETPLACE_REALM: "clinics", MARKETPLACE_WEB_URL: webUrl };
    keycloak = await startKeycloak({ realm: { file, name: variables.MARKETPLACE_REALM, variables } });
    cleanUp(() => keycloak.stop());
    const { url, clientId, clientSecret } = keycloak;
    admin = {
      KEYCLOAK_URL: url,
      KEYCLOAK_CLIENT_ID: clientId,
      KEYCLOAK_CLIENT_SECRET: clientSecret,
      REALM: "clinics",
    };
  });

  test("replaces the variables by those of its environment, and no others", async () => {
    const client = await readClient("marketplace-web");
    assert.deepEqual([client.redirectUris, client.baseUrl], [[`${webUrl}/callback`], `${webUrl}/`]);
    assert.equal(client.attributes["backchannel.logout.url"], `${webUrl}/backchannel-logout`);
    assert.equal(client.attributes["post.logout.redirect.uris"], `${webUrl}/`);
    const mapper = client.protocolMappers.find(({ name }) => name === "roles-in-practices");
    assert.equal(mapper?.config["claim.name"], "organization.${client_id}.roles");
  });

  test("has the practices, and no user who could sign in", async () => {
    const organisations = await sendAsAdmin<{ alias: string }[]>(admin, "GET", "/organizations");
    assert.deepEqual(organisations.map(({ alias }) => alias).toSorted(), [
      "hilltop-family-practice",
      "riverside-clinic",
    ]);
    assert.deepEqual(await sendAsAdmin<unknown[]>(admin, "GET", "/users"), []);
  });

  test("invents secrets until the guide's command sets them", async () => {
    const clientIds = ["marketplace-web", "ehr-service"];
    const readSecrets = async (): Promise<string[]> =>
      Promise.all(clientIds.map(async (id) => (await readClient(id)).secret ?? assert.fail(`${id} has no secret`)));
    for (const invented of await readSecrets()) assert.match(invented, /^[A-Za-z0-9]{32,}$/);
    assert.equal((await requestToken(secrets.MARKETPLACE_EHR_CLIENT_SECRET)).status, 401);
    await runGuideBelow("Let Keycloak import the file", { ...admin, ...secrets });
    assert.deepEqual(await readSecrets(), Object.values(secrets));
    const response = await requestToken(secrets.MARKETPLACE_EHR_CLIENT_SECRET);
    assert.equal(response.status, 200, await response.text());
  });

  for (const [what, change, refusal] of [
    ["without", { MARKETPLACE_WEB_CLIENT_SECRET: "" }, /MARKETPLACE_WEB_CLIENT_SECRET is missing/],
    ["with a short", { MARKETPLACE_EHR_CLIENT_SECRET: "changeme" }, /MARKETPLACE_EHR_CLIENT_SECRET is too short/],
  ] as [string, Record<string, string>, RegExp][]) {
    test(`the guide's commands don't create a realm ${what} secret`, async () => {
      const environment = { ...admin, REALM: "refused", MARKETPLACE_WEB_URL: webUrl, ...secrets, ...change };
      await assert.rejects(runPractices(["import"], environment), refusal);
      assert.equal((await fetch(`${keycloak.url}/realms/refused`)).status, 404);
    });
  }

  const requestToken = (secret: string): Promise<Response> =>
    fetch(`${keycloak.url}/realms/clinics/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: "ehr-service",
        client_secret: secret,
        scope: "organization:riverside-clinic",
      }),
    });
  async function readClient(clientId: string): Promise<ImportedClient> {
    const [client] = await sendAsAdmin<ImportedClient[]>(admin, "GET", `/clients?clientId=${clientId}`);
    return client ?? assert.fail(`there is no client ${clientId}`);
  }
});
