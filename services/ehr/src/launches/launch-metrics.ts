import { Counter, type Registry } from "prom-client";
import type { LaunchType } from "./launch.ts";

export interface LaunchMetrics {
  /** `launchType` is undefined for a refused request that named none. */
  recordLaunch(launchType: LaunchType | undefined, outcome: "launched" | "refused"): void;
  recordRedemption(outcome: "redeemed" | "refused"): void;
}

/** No label identifies an organisation, an app or a patient. */
export function createLaunchMetrics(registry: Registry): LaunchMetrics {
  const launches = new Counter({
    name: "launches_total",
    help: "Requested launches, by type and outcome",
    labelNames: ["launch_type", "outcome"],
    registers: [registry],
  });
  const redemptions = new Counter({
    name: "launch_redemptions_total",
    help: "Redemptions of a launch by an authorization server, by outcome; many refused ones indicate guessing",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return {
    recordLaunch: (launchType, outcome) => launches.inc({ launch_type: launchType ?? "default", outcome }),
    recordRedemption: (outcome) => redemptions.inc({ outcome }),
  };
}
