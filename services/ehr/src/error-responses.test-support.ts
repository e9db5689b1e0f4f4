import { type CleanUp } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type DocumentedResponses, loadDocumentedResponses } from "@ehr-marketplace/tests/support/documented-responses";
import { change, install, type Practice, startPractice } from "./installations/installations.test-support.ts";

export const kib = (count: number): string => "x".repeat(count * 1_024);
export const apps = "/app-installations";
export const webhook = "/internal/marketplace-webhook";
export const consume = "/internal/launch-contexts/consume";
export const putSecret = "/admin/organisations/hilltop-family-practice/secret";
export const reconcile = "/admin/organisations/hilltop-family-practice/reconcile";
export const clients = {
  unknown: "/admin/clients/01890a5d-ac96-774b-bcce-b302099a8050",
  /** Registered by this service. */
  managed: "/admin/clients/01890a5d-ac96-774b-bcce-b302099a8051",
  /** A request for it is in progress. */
  busy: "/admin/clients/01890a5d-ac96-774b-bcce-b302099a8052",
};
export const difference = "/admin/differences/01890a5d-ac96-774b-bcce-b302099a8053";
export const patientId = "6f2a1d0c-5c5e-4a52-9a59-0d6a1b7f3c11";

interface Refused extends RequestOptions {
  as?: Parameters<Practice["as"]>[0];
  /** A body that is sent without JSON encoding. */
  raw?: string;
}

export interface ErrorTest {
  practice: Practice;
  documented: DocumentedResponses;
  /** Slugs of installed apps: one to launch, a paused one, one with an unknown schema, one with an unusable schema. */
  installed: Record<"native" | "paused" | "unread" | "unusable", string>;
  /** Sends a request below /api; checks the response against the wrapper and the OpenAPI document. */
  refused: (status: number, path: string, request?: Refused) => Promise<{ message: string; headers: Headers }>;
}

export async function startErrorTest(cleanUp: CleanUp, environment: Record<string, string> = {}): Promise<ErrorTest> {
  const practice = await startPractice(cleanUp, environment);
  const { ownerUrl } = practice.database;
  const schema = {
    type: "object",
    properties: { language: { type: "string", enum: ["en", "es"] } },
    additionalProperties: false,
  };
  const native = await install(ownerUrl, { schema });
  const paused = await install(ownerUrl, { schema: null, status: "paused" });
  await change(
    ownerUrl,
    `insert into clients (id, app_slug, method, status, client_id, registration_uri, encrypted_registration_token,
       registered_sha256, version, created_at, updated_at)
     values ($1, $2, 'dcr', 'ready', 'a-client', 'https://id.example/a-client', '1.none', repeat('a', 64), gen_random_uuid(),
       now(), now())`,
    [clients.managed.split("/").at(-1), native],
  );
  await change(
    ownerUrl,
    `insert into clients (id, app_slug, method, status, attempt, attempted_at, version, created_at, updated_at)
     values ($1, $2, 'dcr', 'pending', 'register', now() + interval '1 hour', gen_random_uuid(), now(), now())`,
    [clients.busy.split("/").at(-1), paused],
  );
  const documented = await loadDocumentedResponses(`${practice.ehr.url}/api/openapi.json`);
  return {
    practice,
    documented,
    installed: {
      native,
      paused,
      unread: await install(ownerUrl),
      unusable: await install(ownerUrl, { schema: { $ref: "https://schemas.example/elsewhere.json" } }),
    },
    async refused(status, path, request = {}) {
      const { as = "riverside-admin", raw, ...given } = request;
      const url = `${practice.ehr.url}/api${path}`;
      const token = as === null ? undefined : practice.callers.token(as);
      const { method = given.body === undefined && raw === undefined ? "GET" : "POST", headers } = given;
      const response =
        raw === undefined
          ? await sendRequest(url, token, given)
          : await fetch(url, { method, headers: { authorization: `Bearer ${token}`, ...headers }, body: raw });
      const message = await assertFailure(response.clone(), status);
      await documented.checkResponse(method, `/api${path}`, response);
      return { message, headers: response.headers };
    },
  };
}
