import { createHash, randomBytes } from "node:crypto";
import type { launchTypes } from "@ehr-marketplace/contracts";

export type LaunchType = (typeof launchTypes)[number];

/** How long a `launch` can be redeemed: it has to last for one redirect, and a sign-in at most. */
export const redeemableForMs = 5 * 60_000;

/** What only the browser carries, from the EHR to the app and from there to the authorization server. */
export const newLaunch = (): string => randomBytes(32).toString("base64url");

/** All that is kept of it: whoever reads the database can redeem nothing. */
export const hashOf = (launch: string): Buffer => createHash("sha256").update(launch).digest();
