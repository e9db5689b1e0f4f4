import type { ListingDraft, MediaKind } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";

/** What is known of a file that was uploaded for the listing. */
export interface KnownMedia {
  kind: MediaKind;
  /** In pixels, as stored; null for a document. */
  width: number | null;
  height: number | null;
}

/** In pixels, upright or across. Less can't be read on a page. */
const minScreenshot = { longerSide: 640, shorterSide: 400 };

function checkSize({ width, height }: KnownMedia, pointer: string, report: Report): void {
  if (width === null || height === null) return;
  const { longerSide, shorterSide } = minScreenshot;
  if (Math.max(width, height) < longerSide || Math.min(width, height) < shorterSide) {
    const detail = `It has ${width} × ${height} pixels: upload one of at least ${longerSide} × ${shorterSide}, or ${shorterSide} × ${longerSide}.`;
    report(pointer, "screenshot-too-small", detail);
  }
}

export type FindMedia = (id: string) => KnownMedia | undefined;

export function checkMedia(draft: ListingDraft, find: FindMedia, report: Report): void {
  const check = (id: string, kind: MediaKind, pointer: string): void => {
    const known = find(id);
    if (known === undefined) {
      report(
        pointer,
        "media-unknown",
        "The listing has no media with this id: upload the file, and use the id returned.",
      );
    } else if (known.kind !== kind) {
      const detail = `It was uploaded as ${known.kind}: upload the file again with kind=${kind}.`;
      report(pointer, "media-unsuitable", detail);
    } else if (kind === "screenshot") checkSize(known, pointer, report);
  };
  if (draft.icon === undefined)
    report("/icon", "icon-missing", "Upload a square picture of at least 512 × 512 pixels.");
  else check(draft.icon, "icon", "/icon");

  const screenshots = draft.screenshots ?? [];
  if (screenshots.length === 0) {
    report(
      "/screenshots",
      "screenshot-missing",
      "Show the app in at least one screenshot, without data of real people.",
    );
  }
  for (const [index, { media, text = "" }] of screenshots.entries()) {
    const pointer = `/screenshots/${index}`;
    if (media === undefined)
      report(`${pointer}/media`, "screenshot-missing", "Upload the picture, and use its id here.");
    else check(media, "screenshot", `${pointer}/media`);
    if (text.trim() === "") {
      const detail = "Say what the picture shows, for people who can't see it.";
      report(`${pointer}/text`, "alternative-text-missing", detail);
    }
  }
  if (draft.baaDocument !== undefined) check(draft.baaDocument, "document", "/baaDocument");
  const modelCard = draft.trust?.ai?.modelCard;
  if (modelCard !== undefined) check(modelCard, "document", "/trust/ai/modelCard");
}
