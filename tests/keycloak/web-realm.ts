import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { parseGuide, runGuide } from "@ehr-marketplace/tests/support/guide-commands";
import { nameRealm, sendAsAdmin } from "./realm.ts";
import type { TokenResponse } from "./sign-in.ts";

/** A user of the realm, with what an administrator gives them. */
export interface Person {
  username: string;
  firstName: string;
  lastName: string;
  email: string;
  roles?: string[];
  vendors?: string[];
  /** Role by practice. */
  practices?: Record<string, "org-admin" | "org-member">;
}

/** A realm that was created from `deploy/keycloak/marketplace-realm.json`, as the guide describes it. */
export interface WebRealm {
  issuer: string;
  /** With these variables, a service accepts its tokens. */
  tokenEnvironment: Record<string, string>;
  /** With these variables, the web signs people in. */
  webEnvironment: Record<string, string>;
  /** With these variables, the EHR service gets tokens for the marketplace. */
  ehrEnvironment: Record<string, string>;
  createPerson(person: Person): Promise<void>;
  /** Runs a command of `deploy/keycloak/practices.sh`. */
  run(args: string[]): Promise<void>;
  /** Runs the commands of the guide below a heading. */
  runGuide(heading: string): Promise<void>;
  /** The claims of the access token that a person would get by the web. */
  readClaims(username: string): Promise<Record<string, unknown>>;
  /** Ids of Keycloak's sessions, the newest first. */
  sessionsOf(username: string): Promise<string[]>;
  /** As an administrator does in the administration console. */
  endSession(id: string): Promise<void>;
  endSessionsOf(username: string): Promise<void>;
  /** A token of the EHR service, for these organisations. */
  requestEhrToken(scope: string): Promise<TokenResponse>;
}

export const password = "a long enough password";
/** As the guide creates them: with characters that have a meaning in URLs and forms. */
export const newSecret = (): string => randomBytes(32).toString("base64");
const root = new URL("../../", import.meta.url).pathname;
const execute = promisify(execFile);
const guide = parseGuide(await readFile(`${root}docs/guides/identity-providers.md`, "utf8"));

/** Runs a command of `deploy/keycloak/practices.sh`. */
export async function runPractices(args: string[], environment: Record<string, string>): Promise<void> {
  const env = { ...process.env, ...environment };
  await execute("deploy/keycloak/practices.sh", args, { cwd: root, env, timeout: 600_000 });
}

/** Runs the commands of the guide below a heading. */
export async function runGuideBelow(heading: string, environment: Record<string, string>): Promise<void> {
  const steps = guide.filter((step) => step.heading === heading);
  assert.ok(steps.length > 0, `the guide has no commands below "${heading}"`);
  await runGuide(steps, { ports: environment });
}

/** Creates the realm by the guide's commands, for a web at this URL. */
export async function importWebRealm(webUrl: string): Promise<WebRealm> {
  const named = await nameRealm();
  const { issuer } = named;
  const [webSecret, ehrSecret] = [newSecret(), newSecret()];
  const environment = {
    ...named.environment,
    MARKETPLACE_WEB_URL: webUrl,
    MARKETPLACE_WEB_CLIENT_SECRET: webSecret,
    MARKETPLACE_EHR_CLIENT_SECRET: ehrSecret,
  };
  const admin = <T = void>(method: string, path: string, body?: object): Promise<T> =>
    sendAsAdmin<T>(environment, method, path, body);
  const findUser = async (username: string): Promise<string> => {
    const [user] = await admin<{ id: string }[]>("GET", `/users?exact=true&username=${username}`);
    return user?.id ?? assert.fail(`there is no user ${username}`);
  };
  const realm: WebRealm = {
    issuer,
    webEnvironment: {
      OIDC_CLIENT_ID: "marketplace-web",
      OIDC_CLIENT_SECRET: webSecret,
      OIDC_SCOPE: "openid profile",
    },
    ehrEnvironment: {
      MARKETPLACE_TOKEN_URL: `${issuer}/protocol/openid-connect/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: ehrSecret,
      MARKETPLACE_TOKEN_PARAMETERS: "scope=organization:{orgAlias}",
    },
    tokenEnvironment: {
      TOKEN_ISSUER: issuer,
      TOKEN_JWKS_URL: `${issuer}/protocol/openid-connect/certs`,
      TOKEN_ROLES_CLAIM: "realm_access.roles",
    },
    async createPerson({ roles = [], vendors = [], practices = {}, ...person }) {
      await admin("POST", "/users", {
        ...person,
        enabled: true,
        emailVerified: true,
        attributes: { vendor: vendors },
        credentials: [{ type: "password", value: password, temporary: false }],
      });
      const id = await findUser(person.username);
      const assigned = await Promise.all(roles.map((role) => admin<object>("GET", `/roles/${role}`)));
      if (assigned.length > 0) await admin("POST", `/users/${id}/role-mappings/realm`, assigned);
      for (const [alias, role] of Object.entries(practices)) await realm.run(["member", person.username, alias, role]);
    },
    run: (args) => runPractices(args, environment),
    runGuide: (heading) => runGuideBelow(heading, environment),
    async readClaims(username) {
      const [client] = await admin<{ id: string }[]>("GET", "/clients?clientId=marketplace-web");
      const query = new URLSearchParams({ scope: "openid profile", userId: await findUser(username) }).toString();
      return admin("GET", `/clients/${client?.id}/evaluate-scopes/generate-example-access-token?${query}`);
    },
    async sessionsOf(username) {
      const path = `/users/${await findUser(username)}/sessions`;
      const sessions = await admin<{ id: string; start: number }[]>("GET", path);
      return sessions.toSorted((one, other) => other.start - one.start).map(({ id }) => id);
    },
    endSession: (id) => admin("DELETE", `/sessions/${id}`),
    endSessionsOf: async (username) => admin("POST", `/users/${await findUser(username)}/logout`),
    async requestEhrToken(scope) {
      const response = await fetch(`${issuer}/protocol/openid-connect/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`ehr-service:${encodeURIComponent(ehrSecret)}`)}` },
        body: new URLSearchParams({ grant_type: "client_credentials", scope }),
      });
      return (await response.json()) as TokenResponse;
    },
  };
  await realm.runGuide("Import the realm");
  return realm;
}
