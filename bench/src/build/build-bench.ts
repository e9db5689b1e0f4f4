import { readArguments } from "@ehr-marketplace/dev/command-line";
import { usage } from "../command-usage.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { firstAssertions } from "./first-assertion.ts";
import { serviceStarts } from "./service-starts.ts";

/** What contributors and deployments wait for, beside the gate, which `time .ci/run` measures. */
export async function buildBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, { args: options, options: { figures: { type: "string", default: "1,2" } } });
  return measureFigures(values.figures, { 1: firstAssertions, 2: serviceStarts });
}
