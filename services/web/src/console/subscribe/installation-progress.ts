import type { InstallationDto } from "@ehr-marketplace/client/ehr";

/** After this time it takes longer than usual. */
export const slowMs = 45_000;

const firstDelayMs = 800;
const maxDelayMs = 15_000;

/** Each request counts as a use of the session: without an end, a tab that nobody looks at would keep it from expiring. */
const followMs = 10 * 60_000;

/** Whether the EHR isn't asked any more until the person wants it, after it has been asked for so long. */
export const isPaused = (followedMs: number): boolean => followedMs > followMs;

/** How long to wait until the EHR is asked again: longer each time. */
export const pollDelay = (polls: number): number => Math.min(maxDelayMs, Math.round(firstDelayMs * 1.5 ** polls));

/** Whether nothing more is to be expected: the app is installed, and its sign-in works, has failed, or isn't needed. */
export const isSettled = (installation: Pick<InstallationDto, "connection"> | null | undefined): boolean =>
  installation !== null && installation !== undefined && installation.connection?.status !== "pending";
