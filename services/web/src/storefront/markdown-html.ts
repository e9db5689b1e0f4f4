import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { renderMarkdown } from "@ehr-marketplace/markdown";
import { LRUCache } from "lru-cache";

const firstLevel = 3;

/**
 * Makes headings follow each other without a gap, from level 3, whichever levels the vendor chose: readers of the outline expect none
 * to be missing. In the renderer's HTML, only it writes tags.
 */
function closeHeadingGaps(html: string): string {
  const levels = [...new Set([...html.matchAll(/<h([3-6])>/g)].map(([, level]) => Number(level)))].toSorted(
    (a, b) => a - b,
  );
  let previous = firstLevel - 1;
  return html.replaceAll(/<(\/?)h([3-6])>/g, (_tag, slash: string, level: string) => {
    if (slash === "") previous = Math.min(firstLevel + levels.indexOf(Number(level)), previous + 1);
    return `<${slash}h${previous}>`;
  });
}

/** The renderer writes alignments of table cells as styles, which the Content-Security-Policy refuses. */
const replaceStyles = (html: string): string =>
  html.replaceAll(/<(t[hd]) style="text-align:(left|right|center)">/g, '<$1 class="align-$2">');

const maxCachedCharacters = 8 * 1_048_576;

/** HTML by its Markdown: many pages show the same text, such as those of one app with different numbers for its calculator. */
const cached = new LRUCache<string, string>({
  maxSize: maxCachedCharacters,
  sizeCalculation: (html, markdown) => html.length + markdown.length + 100,
});

/** A vendor's Markdown as HTML for a page of the storefront. */
export function toPageHtml(markdown: string): string {
  const known = cached.get(markdown);
  if (known !== undefined) return known;
  const html = replaceStyles(closeHeadingGaps(renderMarkdown(markdown)));
  cached.set(markdown, html);
  return html;
}

/** Renders the texts of a page one by one before it is written: the slowest texts of a page would together block the event loop for 150 ms. */
export async function prepareMarkdown(texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    if (cached.has(text)) continue;
    toPageHtml(text);
    await yieldToEventLoop();
  }
}
