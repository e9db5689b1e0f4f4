const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Failures in a row after which a recipient is held. */
export const failuresToHold = 5;
/** An endpoint that is held for longer is disabled. */
export const maxHeldMs: number = 5 * 24 * hour;

const maxProbeDelayMs = 15 * minute;

/** A held recipient is probed after a minute; the delay doubles with each failed probe, up to 15 minutes. */
export function probeDelayMs(failedProbes: number): number {
  return Math.min(maxProbeDelayMs, minute * 2 ** Math.min(failedProbes, 10));
}

/** A held origin is probed at this interval, by its recipients in turn. */
export const originProbeDelayMs: number = minute;

/** Waiting deliveries that the first step queues once a recipient is active again; each further step queues twice as many. */
export const firstPace = 10;
const maxPace = 320;
export const nextPace = (pace: number): number => Math.min(maxPace, pace * 2);
export const paceIntervalMs: number = second;

/** Recipients whose deliveries the first step queues once their origin is active again; each further step queues twice as many. */
export const firstOriginPace = 20;
const maxOriginPace = 1_000;
export const nextOriginPace = (pace: number): number => Math.min(maxOriginPace, pace * 2);
