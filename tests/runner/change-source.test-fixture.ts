// Preloaded into a process (`node --import`): makes a mistake in a source file while it is loaded, without changing the file.
import { registerHooks } from "node:module";

const { file, after, insert } = JSON.parse(process.env["SOURCE_CHANGE"] ?? "") as Record<string, string>;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(file ?? "")) return loaded;
    const source = Buffer.from(loaded.source as string).toString();
    if (!source.includes(after ?? "")) throw new Error(`${file} doesn't contain: ${after}`);
    return { ...loaded, source: source.replace(after ?? "", (found) => `${found}\n${insert}`) };
  },
});
