import { developmentEncryptionKeys, webClient } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import type { RunningWeb } from "@ehr-marketplace/tests/support/web";
import { type SessionTokens, tokensOwner } from "./session.ts";

/** As the web itself would read them. */
export const readRefreshTokens = ({ database }: RunningWeb, subject: string): Promise<string[]> =>
  withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; encrypted: string }>(
      "select id, encrypted_tokens as encrypted from web.sessions where subject = $1",
      [subject],
    );
    const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
    return rows.map(({ id, encrypted }) => {
      const { refreshToken } = JSON.parse(encryption.decrypt(encrypted, tokensOwner(id))) as SessionTokens;
      return refreshToken ?? "";
    });
  });

/** The error with which the identity provider refuses to exchange the token, if it does. */
export const refresh = async ({ identityProvider }: RunningWeb, token: string): Promise<string | undefined> => {
  const response = await fetch(`${identityProvider.issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${webClient.id}:${webClient.secret}`)}` },
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }),
  });
  return ((await response.json()) as { error?: string }).error;
};
