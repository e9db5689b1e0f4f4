import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { DevStack } from "./dev-stack.ts";

export interface GuideStep {
  /** The heading that the commands are under. */
  heading: string;
  /** A block of commands, as it is written. */
  commands: string;
  /** What the guide says that they print, where it says so: the `text` block right after them. */
  promised: string | undefined;
}

const run = promisify(execFile);
const root = new URL("../../", import.meta.url).pathname;
const headingOrBlock = /^#+ (?<heading>[^\n]+)$|^```(?<language>\w+)\n(?<content>.*?)^```$/gms;

/** What a Markdown file tells its reader to type. */
export function guideSteps(markdown: string): GuideStep[] {
  const steps: GuideStep[] = [];
  let heading = "";
  let justBefore: GuideStep | undefined;
  for (const { groups = {} } of markdown.matchAll(headingOrBlock)) {
    const { language, content = "" } = groups;
    heading = groups["heading"] ?? heading;
    if (language === "text" && justBefore !== undefined) justBefore.promised = content.trim();
    justBefore = language === "sh" ? { heading, commands: content, promised: undefined } : undefined;
    if (justBefore !== undefined) steps.push(justBefore);
  }
  return steps;
}

const stepsApart = "\u001e";

/** Types all of it into one shell, as a reader would; answers what each step printed. */
export async function followGuide(steps: readonly GuideStep[], stack: DevStack): Promise<string[]> {
  const script = steps
    .map(({ commands }) =>
      commands
        .replaceAll("http://127.0.0.1:8080", stack.marketplaceUrl)
        .replaceAll("http://127.0.0.1:8081", stack.ehrUrl),
    )
    .join(`\nprintf '\\036'\n`);
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], {
    cwd: root,
    env: { ...process.env, ...stack.ports },
    timeout: 120_000,
  });
  return stdout.split(stepsApart).map((printed) => printed.trim());
}
