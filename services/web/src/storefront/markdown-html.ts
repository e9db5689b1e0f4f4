import { renderMarkdown } from "@ehr-marketplace/markdown";

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

/** A vendor's Markdown as HTML for a page of the storefront. */
export const toPageHtml = (markdown: string): string => replaceStyles(closeHeadingGaps(renderMarkdown(markdown)));
