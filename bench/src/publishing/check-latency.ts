import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import type { Figure } from "../figures.ts";
import { latencies, percentile } from "../measure.ts";
import { startPublishingApi } from "./publishing-api.ts";

const checks = 500;
const maxMs = 50;

/** Figure 1: how long the check of a full draft takes: long texts, many scopes, 20 plans, 10 screenshots. */
export async function checkLatency(
  clusterUrl: string,
  issuer: IdentityProvider,
  mediaDirectory: string,
): Promise<Figure[]> {
  const database = await prepareMarketplaceDatabase(clusterUrl, "bench_check");
  const api = await startPublishingApi(database.serviceUrl, issuer, mediaDirectory);
  try {
    const publisher = await api.createVendor("full");
    await publisher.create("full-draft");
    const resources = [
      "Observation",
      "Condition",
      "Encounter",
      "Patient",
      "MedicationRequest",
      "Procedure",
      "Immunization",
    ];
    const scopes = resources.flatMap((resource) => ["r", "rs", "cu"].map((access) => `patient/${resource}.${access}`));
    const { icon } = (await publisher.read("full-draft")).draft;
    const screenshots: { media: string; text: string }[] = [];
    for (let index = 0; index < 10; index += 1) {
      const { id } = await publisher.upload("full-draft", "screenshot", api.drawPng(1_280, 800 + index));
      screenshots.push({ media: id, text: `What screen ${index} shows` });
    }
    await publisher.edit("full-draft", {
      icon,
      screenshots,
      description: "A **paragraph** with a [link](https://vendor.example) and `code`.\n\n".repeat(270),
      releaseNotes: "- A change\n".repeat(400),
      fhirScopes: ["launch", "openid", ...scopes].join(" "),
      scopePurposes: Object.fromEntries(scopes.map((scope) => [scope, "Shows it beside the note"])),
      plans: Array.from({ length: 20 }, (_, index) => ({
        name: `Plan ${index}`,
        pricingModel: "TIERED",
        currency: "USD",
        interval: "MONTH",
        unitName: "seat",
        tierMode: "GRADUATED",
        tiers: Array.from({ length: 20 }, (_tier, tier) => ({
          upTo: tier === 19 ? null : (tier + 1) * 10,
          unitAmount: 900 - tier,
          flatAmount: 0,
        })),
        features: Array.from({ length: 20 }, (_feature, feature) => `Feature ${feature}`),
      })),
    });
    const token = await api.tokenOf("full");
    const times = await latencies(Array(checks).fill(`${api.url}/developer/apps/full-draft/check`) as string[], token);
    const p95 = percentile(times, 0.95);
    const measured = `${p95.toFixed(1)} ms, median ${percentile(times, 0.5).toFixed(1)} ms`;
    return [{ name: "check of a full draft, p95 in ms", measured, reference: "", value: p95, goal: { atMost: maxMs } }];
  } finally {
    await api.stop();
  }
}
