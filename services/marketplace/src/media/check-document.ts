import { Problem } from "@ehr-marketplace/service-kit/http";
import { mediaProblems } from "./media-errors.ts";

export const documentType = "application/pdf";

/** A reader of ZIP files looks for the end of the directory here: the record, and a comment of at most 64 KiB. */
const zipEndBytes = 22 + 65_535;
/** Browsers that guess a type look at most at this much. */
const sniffedBytes = 1_445;

/**
 * Refuses a document that isn't a PDF, or that is something else as well, such as a web page or an archive. The bytes of a PDF aren't
 * changed, because agreements are signed; it is only ever served as a download.
 */
export function checkDocument(bytes: Buffer): void {
  const detail = findProblem(bytes);
  if (detail !== undefined) throw new Problem(mediaProblems.unusableFile, detail);
}

function findProblem(bytes: Buffer): string | undefined {
  if (bytes.toString("latin1", 0, 5) !== "%PDF-") {
    return "The file isn't a PDF: it doesn't begin with %PDF-. Export the document as PDF.";
  }
  const end = bytes.lastIndexOf("%%EOF");
  if (end === -1) return "The PDF is incomplete: it doesn't end with %%EOF. Export it again.";
  if (bytes.toString("latin1", end + 5).trim() !== "") {
    return "The PDF has data after its end. Export it again.";
  }
  const isArchive = bytes.subarray(-zipEndBytes).includes("PK\x05\x06", 0, "latin1");
  const isPage = /<(!doctype|html|head|body|script|svg|iframe)/i.test(bytes.toString("latin1", 0, sniffedBytes));
  if (isArchive || isPage) return "The file is a PDF and something else as well. Export the document again.";
  return undefined;
}
