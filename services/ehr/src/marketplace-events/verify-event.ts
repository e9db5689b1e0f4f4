import { randomBytes } from "node:crypto";
import { orgAliasPattern } from "@ehr-marketplace/contracts";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import { verifyBody } from "@ehr-marketplace/webhook-signature";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findLiveSecrets } from "../organisations/live-secrets.ts";
import { aliasIn, parseBody } from "./marketplace-event.ts";

export interface Delivery {
  body: Buffer;
  signature: string | string[] | undefined;
}

/** Signed with a secret of this organisation: only now may the rest of it be looked at. */
export interface Verified {
  orgAlias: string;
  parsed: unknown;
}

/** For the log only: the sender learns neither whether the organisation is known nor how many secrets it has. */
export interface Refused {
  knownAlias: string | undefined;
}

const aliasForm = new RegExp(orgAliasPattern);
const decoyOwner = "nobody";

/**
 * Whoever has no secret learns nothing: an alias that nobody has, and a body without any, take the same way with a key that
 * nobody has either.
 */
export function createVerifier(
  database: Kysely<DB>,
  seal: Seal,
  clock: () => Date,
): (delivery: Delivery) => Promise<Verified | Refused> {
  const decoy = seal.close(randomBytes(32).toString("base64"), decoyOwner);
  return async ({ body, signature }) => {
    const parsed = parseBody(body);
    const claimed = aliasIn(parsed);
    const orgAlias = typeof claimed === "string" && aliasForm.test(claimed) ? claimed : "";
    const live = await findLiveSecrets(database, seal, orgAlias, clock());
    const secrets = live.length === 0 ? [seal.open(decoy, decoyOwner)] : live;
    if (verifyBody({ body, signature, secrets })) return { orgAlias, parsed };
    return { knownAlias: live.length === 0 ? undefined : orgAlias };
  };
}
