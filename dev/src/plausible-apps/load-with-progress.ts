import { Presets, SingleBar } from "cli-progress";
import { loadPlausibleApps } from "./load-plausible-apps.ts";

export async function loadWithProgress(ownerUrl: string, options: { count: number; seed: number }): Promise<void> {
  const bar = new SingleBar(
    {
      format: "{bar} {percentage}% | {value}/{total} apps | {eta_formatted} left",
      hideCursor: true,
      noTTYOutput: true,
      notTTYSchedule: 5_000,
    },
    Presets.shades_classic,
  );
  bar.start(options.count, 0);
  try {
    await loadPlausibleApps(ownerUrl, {
      ...options,
      mediaUrl: "https://media.example",
      onProgress: (done) => bar.update(done),
    });
  } finally {
    bar.stop();
  }
}
