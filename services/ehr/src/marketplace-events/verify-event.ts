import { randomBytes } from "node:crypto";
import { orgAliasPattern } from "@ehr-marketplace/contracts";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import { verifyBody } from "@ehr-marketplace/webhook-signature";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findLiveSecrets } from "../organisations/organisation-secrets.ts";
import { parseBody, readAlias } from "./marketplace-event.ts";

export interface Delivery {
  body: Buffer;
  signature: string | string[] | undefined;
}

/** An event signed with a secret of this organisation. */
export interface VerifiedEvent {
  orgAlias: string;
  parsed: unknown;
}

/** For the log only: the sender learns neither whether the organisation is known nor how many secrets it has. */
export interface RefusedEvent {
  knownAlias: string | undefined;
}

const aliasForm = new RegExp(orgAliasPattern);
const decoyOwner = "decoy";

/**
 * A sender without a secret learns nothing from the timing: an unknown alias, and a body without an alias, are verified with a decoy secret.
 */
export function createVerifier(
  database: Kysely<DB>,
  encryption: Encryption,
  clock: () => Date,
): (delivery: Delivery) => Promise<VerifiedEvent | RefusedEvent> {
  const decoy = encryption.encrypt(randomBytes(32).toString("base64"), decoyOwner);
  return async ({ body, signature }) => {
    const parsed = parseBody(body);
    const claimed = readAlias(parsed);
    const orgAlias = typeof claimed === "string" && aliasForm.test(claimed) ? claimed : "";
    const live = await findLiveSecrets(database, encryption, orgAlias, clock());
    const secrets = live.length === 0 ? [encryption.decrypt(decoy, decoyOwner)] : live;
    if (verifyBody({ body, signature, secrets })) return { orgAlias, parsed };
    return { knownAlias: live.length === 0 ? undefined : orgAlias };
  };
}
