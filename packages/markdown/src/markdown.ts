import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { boundRules, createUsage } from "./bounded-rules.ts";

/** With up to 253 characters of a host name and a port: encoding a longer one, to learn that it's too long, takes 70 ms. */
const allowedLink = /^(?:https:\/\/[^/?#\\]{1,259}(?:[/?#\\]|$)|mailto:[^?]+@)/i;
const maxUrlLength = 2_000;
/** The limit of DNS. A character of a host name can become 20 once it is encoded. */
const maxHostLength = 253;

/** The URL that a link leads to, or nothing if it can't be used. */
function toLinkUrl(text: string): string | undefined {
  if (text.length > maxUrlLength || !allowedLink.test(text)) return undefined;
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.hostname.length > maxHostLength)
    return undefined;
  return url.href;
}

/**
 * CommonMark with tables and strikethrough. HTML is shown as text. Links lead to https URLs and mail addresses only. There are no
 * images: a picture from elsewhere would tell its host who reads the page. What else isn't in the profile is in `boundRules`.
 */
function createParser(options: { html: boolean }): Parser {
  const parser = new MarkdownIt({ html: options.html, linkify: false, typographer: false });
  boundRules(parser);
  return parser;
}

function createRenderer(): Parser {
  const parser = createParser({ html: false });
  parser.disable("image");
  parser.normalizeLink = (url) => toLinkUrl(url) ?? "";
  parser.validateLink = (url) => url !== "";
  // Decoded host names of other scripts can look like well-known ones.
  parser.normalizeLinkText = (url) => url;
  // The page has headings of its own, and readers of the outline expect those of the text below them.
  parser.renderer.rules["heading_open"] = (tokens, index) => `<${loweredTag(tokens[index])}>`;
  parser.renderer.rules["heading_close"] = (tokens, index) => `</${loweredTag(tokens[index])}>\n`;
  parser.renderer.rules["link_open"] = (tokens, index, given, _environment, self) => {
    // `[text]()` is valid, and would lead to the page itself.
    if (tokens[index]?.attrGet("href") === "") return "<a>";
    tokens[index]?.attrSet("rel", "nofollow noopener ugc");
    return self.renderToken(tokens, index, given);
  };
  return parser;
}

const loweredTag = (token: Token | undefined): string => `h${Math.min(6, Number(token?.tag.slice(1) ?? 1) + 2)}`;

/** Finds what the renderer shows as it is written: HTML, pictures, and links wherever they lead. */
function createInspector(): Parser {
  const parser = createParser({ html: true });
  parser.normalizeLink = (url) => url;
  parser.validateLink = () => true;
  parser.normalizeLinkText = (url) => url;
  return parser;
}

const renderer = createRenderer();
const inspector = createInspector();

/** Renders a vendor's Markdown as HTML that is safe in a page: no scripts, styles, attributes of the vendor's or foreign content. */
export function renderMarkdown(text: string): string {
  return renderer.render(text, createUsage());
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
  /** The URLs of links that lead to neither an https URL without user information nor a mail address. */
  unusableLinks: string[];
  hasReferences: boolean;
  /** It has more table cells, lists or quotes than are rendered. */
  isTooComplex: boolean;
  /** Each is shown as an exclamation mark and a link. */
  hasImages: boolean;
}

export function inspectMarkdown(text: string): InspectedMarkdown {
  const usage = createUsage();
  const tokens = [...flatten(inspector.parse(text, usage))];
  const unusableLinks = tokens
    .filter(({ type }) => type === "link_open")
    .map((token) => String(token.attrGet("href")))
    .filter((url) => toLinkUrl(url) === undefined);
  const visible = tokens.filter(({ type }) => visibleTypes.has(type)).map(({ content }) => content);
  return {
    visibleText: [...visible, ...unusableLinks].join(" ").replaceAll(invisible, " ").trim(),
    hasHtml: tokens.some(({ type }) => type.startsWith("html_")),
    unusableLinks,
    hasReferences: usage.hasReferences,
    isTooComplex: usage.isTooComplex,
    hasImages: tokens.some(({ type }) => type === "image"),
  };
}

function* flatten(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    if (token.children !== null) yield* flatten(token.children);
  }
}
