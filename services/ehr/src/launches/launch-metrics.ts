import { Counter, type Registry } from "prom-client";
import type { LaunchType } from "./launch.ts";

export interface LaunchMetrics {
  /** Without a type where none was asked for and nothing was launched. */
  launched(launchType: LaunchType | undefined, outcome: "launched" | "refused"): void;
  redeemed(outcome: "redeemed" | "refused"): void;
}

/** No label says whose: neither the organisation's, nor the app's, nor the patient's. */
export function createLaunchMetrics(registry: Registry): LaunchMetrics {
  const launches = new Counter({
    name: "launches_total",
    help: "Launches that were asked for, by type and outcome",
    labelNames: ["launch_type", "outcome"],
    registers: [registry],
  });
  const redemptions = new Counter({
    name: "launch_redemptions_total",
    help: "Redemptions of a launch by an authorization server, by outcome; many that are refused are a sign of somebody guessing",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return {
    launched: (launchType, outcome) => launches.inc({ launch_type: launchType ?? "default", outcome }),
    redeemed: (outcome) => redemptions.inc({ outcome }),
  };
}
