import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { inspectMarkdown, renderMarkdown } from "./markdown.ts";

const marks =
  "# ## > - * + 1. ``` ~~~ ` * ** _ __ ~~ [ ] ( ) ![ ]( < > | |- :- --- === \\ & &amp; &#x0; : \" ' \t \u00a0 \n \n\n".split(
    " ",
  );
const attacks = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<a href='javascript:alert(1)'>",
  "[a](javascript:alert(1))",
  '[a](https://a.example "title" onclick=x)',
  "[a](https://a.example/\u202e)",
  "[a](\x01javascript:x)",
  "<https://user:pw@a.example>",
  "<mailto:a@a.example>",
  "![a](data:text/html,x)",
  '```js" onload=x\n',
  "[a]: https://a.example '\"><script>'\n[a]",
  "|a|b|\n|-|:-:|\n|c|d|\n",
  "<!-- -->",
  "]]>",
];
const piece = fc.oneof(
  fc.constantFrom(...marks),
  fc.constantFrom(...attacks),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const texts = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));

const elements = "a|blockquote|br|code|em|h[3-6]|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul".replaceAll(
  /^|$/g,
  "",
);
const attribute = [
  'href="(?:https:\\/\\/|mailto:)[^"<>]*"',
  'rel="nofollow noopener ugc"',
  'title="[^"<>]*"',
  'start="\\d+"',
  'style="text-align:(?:left|center|right)"',
  'class="language-[^"<>]*"',
].join("|");
const tag = new RegExp(`<(?:(${elements})((?: (?:${attribute}))*)|/(${elements}))>`, "g");
const isVoid = (name: string): boolean => name === "br" || name === "hr";

test("any text becomes elements of the profile, closed in their order, and nothing else; it is bounded", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const html = renderMarkdown(text);
      assert.doesNotMatch(html.replaceAll(tag, ""), /[<>"]/, "what isn't an element of ours is escaped");
      const open: string[] = [];
      for (const [, opened, , closed] of html.matchAll(tag)) {
        if (closed !== undefined) assert.equal(open.pop(), closed);
        else if (opened !== undefined && !isVoid(opened)) open.push(opened);
      }
      assert.deepEqual(open, []);
      assert.ok(html.length <= 10 * text.length + 50_000, `${html.length} characters of ${text.length}`);
    }),
    { numRuns: rounds(200, 10_000) },
  );
});

test("any text can be inspected; a link that is rendered isn't one that is reported, and what is blank shows nothing", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { unusableLinks, visibleText } = inspectMarkdown(text);
      const rendered = new Set(Array.from(renderMarkdown(text).matchAll(/ href="([^"]*)"/g), ([, url]) => url));
      for (const url of unusableLinks) assert.ok(!rendered.has(url), url);
      if (text.trim() === "") assert.equal(visibleText, "");
    }),
    { numRuns: rounds(200, 10_000) },
  );
});
