import type { ReactNode } from "react";
import { formatDate } from "../format.ts";
import { toPageHtml } from "../markdown-html.ts";

/** Only what browsers open as a page: a vendor's URL never runs a script. */
const isWebUrl = (url: string): boolean => {
  const protocol = URL.parse(url)?.protocol;
  return protocol === "https:" || protocol === "http:";
};

/** A link to a site of the vendor's choice. If the URL can't be used, only its text is shown. */
export function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
  if (!isWebUrl(href)) return <>{children}</>;
  return (
    <a href={href} rel="nofollow noopener ugc">
      {children}
    </a>
  );
}

const mailAddress = /^[^\s@<>"']+@[^\s@<>"']+$/;

/** An email address or a URL, as vendors state contacts. */
export function ContactLink({ contact }: { contact: string }) {
  if (!mailAddress.test(contact)) return <ExternalLink href={contact}>{contact}</ExternalLink>;
  return <a href={`mailto:${encodeURIComponent(contact).replace("%40", "@")}`}>{contact}</a>;
}

/** A vendor's Markdown, as harmless HTML. */
export function Markdown({ text }: { text: string }) {
  return <div className="prose" dangerouslySetInnerHTML={{ __html: toPageHtml(text) }} />;
}

export const DateText = ({ instant }: { instant: string }) => <time dateTime={instant}>{formatDate(instant)}</time>;

export function AppIcon({ url, size }: { url: string; size: 40 | 48 | 72 }) {
  return (
    <img
      className="icon"
      src={isWebUrl(url) ? url : ""}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      decoding="async"
    />
  );
}

/** A term with its description, left out if there is none. */
export function Fact({ term, children }: { term: string; children: ReactNode }) {
  if (children === null || children === undefined || children === "") return null;
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
