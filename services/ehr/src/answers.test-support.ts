import {
  type Asking,
  askAt,
  assertFailure,
  type CleanUp,
  type DocumentedAnswers,
  documentedAnswers,
} from "@ehr-marketplace/tests/support";
import { install, type Practice, startPractice } from "./installations/installations.test-support.ts";

export const kib = (count: number): string => "x".repeat(count * 1_024);
export const apps = "/app-installations";
export const webhook = "/internal/marketplace-webhook";
export const consume = "/internal/launch-contexts/consume";
export const putSecret = "/admin/organisations/hilltop-family-practice/secret";
export const reconcile = "/admin/organisations/hilltop-family-practice/reconcile";
export const patientId = "6f2a1d0c-5c5e-4a52-9a59-0d6a1b7f3c11";

interface Refused extends Asking {
  as?: Parameters<Practice["as"]>[0];
  /** Not JSON: sent as it is. */
  raw?: string;
}

export interface Refusing {
  practice: Practice;
  documented: DocumentedAnswers;
  /** Slugs of apps that are installed: one to launch, one that is paused, one whose schema is unknown, one whose schema is unusable. */
  installed: Record<"native" | "paused" | "unread" | "unusable", string>;
  /** Asks below /api; holds what is answered against the wrapper and against the document. */
  refused: (status: number, path: string, asking?: Refused) => Promise<{ message: string; headers: Headers }>;
}

export async function startRefusing(cleanUp: CleanUp, environment: Record<string, string> = {}): Promise<Refusing> {
  const practice = await startPractice(cleanUp, environment);
  const { ownerUrl } = practice.database;
  const schema = {
    type: "object",
    properties: { language: { type: "string", enum: ["en", "es"] } },
    additionalProperties: false,
  };
  const documented = await documentedAnswers(`${practice.ehr.url}/api/openapi.json`);
  return {
    practice,
    documented,
    installed: {
      native: await install(ownerUrl, { schema }),
      paused: await install(ownerUrl, { schema: null, status: "paused" }),
      unread: await install(ownerUrl),
      unusable: await install(ownerUrl, { schema: { $ref: "https://schemas.example/elsewhere.json" } }),
    },
    async refused(status, path, asking = {}) {
      const { as = "riverside-admin", raw, ...given } = asking;
      const url = `${practice.ehr.url}/api${path}`;
      const token = as === null ? undefined : practice.callers.token(as);
      const { method = given.body === undefined && raw === undefined ? "GET" : "POST", headers } = given;
      const answer =
        raw === undefined
          ? await askAt(url, token, given)
          : await fetch(url, { method, headers: { authorization: `Bearer ${token}`, ...headers }, body: raw });
      const message = await assertFailure(answer.clone(), status);
      await documented.hold(method, `/api${path}`, answer);
      return { message, headers: answer.headers };
    },
  };
}
