// Runs a script of package.json that consists of commands of other tools, and explains the script on `--help`:
//   node dev/src/checks/run-tool.ts check:lint services/ehr
import { spawnSync } from "node:child_process";
import { exitWithUsage, readArguments } from "../command-line.ts";
import { tools } from "./tools.ts";

const [script = "", ...given] = process.argv.slice(2);
const tool = tools[script];
if (tool === undefined) throw new Error(`dev/src/checks/tools.ts has no script "${script}"`);

const usage = `Usage: npm run ${script}${tool.takesPaths === true ? " -- [path …]" : ""}

${tool.purpose}

  --help  print this text

Runs: ${tool.commands.join(" && ")}
For the tool's own options: ${tool.ownHelp}

Examples:
  npm run ${script}${tool.takesPaths === true ? `\n  npm run ${script} -- services/ehr` : ""}`;

const { positionals } = readArguments(usage, { args: given, allowPositionals: tool.takesPaths === true });
for (const [nth, command] of tool.commands.entries()) {
  const [file = "", ...args] = command.split(" ");
  const paths = nth === tool.commands.length - 1 ? positionals : [];
  const { error, status } = spawnSync(file, [...args, ...paths], {
    stdio: "inherit",
    env: { ...process.env, ...tool.environment },
  });
  if (error !== undefined) exitWithUsage(`${file} can't be run: ${error.message}`, usage);
  if (status !== 0) process.exit(1);
}
