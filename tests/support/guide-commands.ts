import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface GuideStep {
  /** The heading above the commands. */
  heading: string;
  /** The text of an `sh` block. Blocks of `bash` are for production, and not run. */
  commands: string;
  /** The `text` block right after the commands, if there is one. */
  expectedOutput: string | undefined;
}

const run = promisify(execFile);
const root = new URL("../../", import.meta.url).pathname;
const headingOrBlock = /^#+ (?<heading>[^\n]+)$|^```(?<language>\w+)\n(?<content>.*?)^```$/gms;

/** Extracts the commands and expected outputs of a Markdown guide. */
export function parseGuide(markdown: string): GuideStep[] {
  const steps: GuideStep[] = [];
  let heading = "";
  let previousStep: GuideStep | undefined;
  for (const { groups = {} } of markdown.matchAll(headingOrBlock)) {
    const { language, content = "" } = groups;
    heading = groups["heading"] ?? heading;
    if (language === "text" && previousStep !== undefined) previousStep.expectedOutput = content.trim();
    previousStep = language === "sh" ? { heading, commands: content, expectedOutput: undefined } : undefined;
    if (previousStep !== undefined) steps.push(previousStep);
  }
  return steps;
}

const stepSeparator = "\u001e";

/** Runs all steps in one shell, with the ports of the stack in its environment, and returns the output of each step. */
export async function runGuide(
  steps: readonly GuideStep[],
  stack: { ports: Record<string, string> },
): Promise<string[]> {
  const script = steps.map(({ commands }) => commands).join(`\nprintf '\\036'\n`);
  const { stdout } = await run("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    cwd: root,
    env: { ...process.env, ...stack.ports },
    timeout: 600_000,
  });
  return stdout.split(stepSeparator).map((printed) => printed.trim());
}
