export { inspectMarkdown, renderMarkdown } from "./markdown.ts";
