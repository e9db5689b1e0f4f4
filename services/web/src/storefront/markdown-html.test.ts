import assert from "node:assert/strict";
import { test } from "node:test";
import { toPageHtml } from "./markdown-html.ts";

const headingsOf = (markdown: string): string =>
  [...toPageHtml(markdown).matchAll(/<(\/?h\d)>/g)].map(([, tag]) => tag).join(" ");

test("headings begin at level 3 and leave none out, whichever levels the vendor chose", () => {
  assert.equal(headingsOf("### A"), "h3 /h3");
  assert.equal(headingsOf("# A\n\n### B\n\n# C"), "h3 /h3 h4 /h4 h3 /h3");
  assert.equal(headingsOf("### A\n\n# B"), "h3 /h3 h3 /h3");
});

test("cells are aligned by classes, without inline styles", () => {
  const html = toPageHtml("|a|b|\n|:-:|-:|\n|1|2|");
  assert.match(html, /<th class="align-center">a<\/th>\n<th class="align-right">b<\/th>/);
  assert.doesNotMatch(html, /style=/);
});

test("what looks like the renderer's tags is text", () => {
  assert.equal(toPageHtml("<h6>x</h6>"), "<p>&lt;h6&gt;x&lt;/h6&gt;</p>\n");
});
