import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { boundRules, createUsage } from "./bounded-rules.ts";

const allowedLink = /^(?:https:\/\/|mailto:)/i;

/**
 * CommonMark with tables and strikethrough. HTML is shown as text. Links lead to https URLs and mail addresses only. There are no
 * images: a picture from elsewhere would tell its host who reads the page. What else isn't in the profile is in `boundRules`.
 */
function createParser(options: { html: boolean }): Parser {
  const parser = new MarkdownIt({ html: options.html, linkify: false, typographer: false });
  parser.disable("image");
  boundRules(parser);
  parser.validateLink = (url) => allowedLink.test(url);
  // The page has headings of its own, and readers of the outline expect those of the text below them.
  parser.renderer.rules["heading_open"] = (tokens, index) => `<${loweredTag(tokens[index])}>`;
  parser.renderer.rules["heading_close"] = (tokens, index) => `</${loweredTag(tokens[index])}>\n`;
  parser.renderer.rules["link_open"] = (tokens, index, given, _environment, self) => {
    tokens[index]?.attrSet("rel", "nofollow noopener ugc");
    return self.renderToken(tokens, index, given);
  };
  return parser;
}

const loweredTag = (token: Token | undefined): string => `h${Math.min(6, Number(token?.tag.slice(1) ?? 1) + 2)}`;

const parser = createParser({ html: false });
const htmlParser = createParser({ html: true });

/** Renders a vendor's Markdown as HTML that is safe in a page: no scripts, styles, attributes of the vendor's or foreign content. */
export function renderMarkdown(text: string): string {
  return parser.render(text, createUsage());
}

/** HTML is visible: readers see it as it is written. */
const visibleTypes = new Set([
  "text",
  "text_special",
  "code_inline",
  "code_block",
  "fence",
  "html_block",
  "html_inline",
]);
/** Characters without ink: control and format characters, spaces, fillers that count as letters. */
const invisible = /(?:[\p{C}\p{Z}\u115F\u1160\u2800\u3164\uFFA0]|\u034F)+/gu;

export interface InspectedMarkdown {
  /** What a reader sees, with single spaces. */
  visibleText: string;
  /** Each of these is shown as it is written. */
  hasHtml: boolean;
  hasReferences: boolean;
  /** It has more table cells, lists or quotes than are rendered. */
  isTooComplex: boolean;
}

export function inspectMarkdown(text: string): InspectedMarkdown {
  const usage = createUsage();
  const visible = [...flatten(htmlParser.parse(text, usage))].filter(({ type }) => visibleTypes.has(type));
  return {
    visibleText: visible
      .map(({ content }) => content)
      .join(" ")
      .replaceAll(invisible, " ")
      .trim(),
    hasHtml: visible.some(({ type }) => type.startsWith("html_")),
    hasReferences: usage.hasReferences,
    isTooComplex: usage.isTooComplex,
  };
}

function* flatten(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    if (token.children !== null) yield* flatten(token.children);
  }
}
