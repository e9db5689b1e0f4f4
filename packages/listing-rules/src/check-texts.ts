import type { ListingDraft } from "@ehr-marketplace/contracts";
import { inspectMarkdown } from "@ehr-marketplace/markdown";
import { quote } from "./check-scopes.ts";
import type { CriterionCode, Report } from "./criteria.ts";

const requiredTexts = {
  name: "Say what the app is called.",
  summary: "Say in one sentence what the app does, for lists.",
  description: "Describe the app: what it does, for whom, and what it needs.",
  version: "Name the app's version, for example 1.4.0.",
} as const;

export function checkTexts(draft: ListingDraft, report: Report): void {
  for (const [field, detail] of Object.entries(requiredTexts)) {
    if ((draft[field as keyof typeof requiredTexts] ?? "").trim() === "") report(`/${field}`, "text-missing", detail);
  }
  for (const field of ["description", "releaseNotes"] as const) {
    const text = draft[field] ?? "";
    if (text.trim() !== "") checkMarkdown(text, (code, detail) => report(`/${field}`, code, detail));
  }
}

function checkMarkdown(text: string, report: (code: CriterionCode, detail: string) => void): void {
  const { visibleText, hasHtml, hasImages, hasReferences, unusableLinks, isTooComplex } = inspectMarkdown(text);
  if (visibleText === "") report("text-renders-to-nothing", "Nothing of it is visible once it is rendered: add text.");
  if (hasHtml) report("html-in-markdown", "Readers see HTML as it is written: use Markdown instead.");
  if (hasImages) report("image-in-markdown", "Readers see no pictures in a text: add them to the screenshots.");
  if (hasReferences) {
    const detail = "Readers see a definition such as [a]: https://a.example as text: write [a](https://a.example).";
    report("reference-in-markdown", detail);
  }
  const [unusable] = unusableLinks;
  if (unusable !== undefined) {
    const more = unusableLinks.length === 1 ? "" : ` and ${unusableLinks.length - 1} more`;
    const detail = `Readers see the link to ${quote(unusable)}${more} as text: use complete https URLs without a user name, or mail addresses.`;
    report("link-unusable", detail);
  }
  if (isTooComplex) {
    const detail =
      "Readers see a part as text: use at most 1,000 table cells, 1,000 lists and quotes, and 10 levels of them.";
    report("markdown-too-complex", detail);
  }
}
