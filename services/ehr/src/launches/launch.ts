import { createHash, randomBytes } from "node:crypto";
import type { launchTypes } from "@ehr-marketplace/contracts";

export type LaunchType = (typeof launchTypes)[number];

/** How long a `launch` can be redeemed: long enough for a redirect and a sign-in. */
export const redeemableForMs = 5 * 60_000;

/** The value that the browser carries from the EHR to the app, and from there to the authorization server. */
export const generateLaunch = (): string => randomBytes(32).toString("base64url");

/** Only the hash is stored, so that reading the database doesn't allow redeeming launches. */
export const hashLaunch = (launch: string): Buffer => createHash("sha256").update(launch).digest();
