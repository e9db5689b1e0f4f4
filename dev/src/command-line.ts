import { type ParseArgsConfig, parseArgs } from "node:util";

/** Prints what is wrong and the usage, and ends the process. */
export function exitWithUsage(message: string, usage: string): never {
  console.error(`${message}\n\n${usage}`);
  return process.exit(1);
}

/** Reads the arguments of a script. `--help` prints the usage and ends the process; so does an unknown argument, as an error. */
export function readArguments<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    const parsed = parseArgs({ ...config, options: { ...config.options, help: { type: "boolean", short: "h" } } });
    if ((parsed.values as { help?: boolean }).help === true) {
      console.log(usage);
      process.exit(0);
    }
    return parsed as unknown as ReturnType<typeof parseArgs<Config>>;
  } catch (error) {
    return exitWithUsage((error as Error).message, usage);
  }
}
