import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? "");

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b6e7a"/>' +
  '<path d="M6 17h5l3-8 5 14 3-6h4" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>';

const style = `
:root{--page:#f7fafa;--paper:#fff;--ink:#16323c;--soft:#4d6670;--line:#d5e4e4;--accent:#0b6e7a;--code:#e3eeee;--good:#1b7a4b;--bad:#b3401a}
@media (prefers-color-scheme:dark){:root{--page:#0f1a1e;--paper:#16252a;--ink:#e6f0f1;--soft:#9db4ba;--line:#2a3f45;--accent:#5cc6d0;--code:#22363c;--good:#6fd39f;--bad:#ffa27a}}
*{box-sizing:border-box}
body{margin:0;font:16px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--page)}
main{max-width:44rem;margin:0 auto;padding:clamp(2rem,9vh,5.5rem) 1.5rem 3rem}
main>svg{display:block;width:3rem;height:3rem;margin-bottom:1.25rem}
h1{margin:0;font-size:1.75rem;line-height:1.25;letter-spacing:-.02em;text-wrap:balance}
p{margin:.5rem 0 0;text-wrap:pretty}
a{color:var(--accent)}
a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
code{padding:.1em .35em;background:var(--code);border-radius:4px;font-size:.9em}
dt{margin-top:1rem;font-weight:600}
dd{margin:0;color:var(--soft)}
.lead{color:var(--soft);font-size:1.0625rem}
.status{margin:0;color:var(--accent);font-weight:600;letter-spacing:.04em}
.good{color:var(--good)}
.bad{color:var(--bad)}
.links{margin:1.75rem 0 0;padding:0;list-style:none;background:var(--paper);border:1px solid var(--line);border-radius:12px;overflow:hidden}
.links li+li{border-top:1px solid var(--line)}
.links a{display:grid;grid-template-columns:1fr auto;gap:0 1.5rem;padding:.8rem 1.1rem;color:inherit;text-decoration:none}
.links a:hover{background:var(--page)}
.links a:focus-visible{outline-offset:-3px}
.links strong{color:var(--accent);font-weight:600}
.links span{grid-column:1;color:var(--soft);font-size:.9375rem}
.links code{grid-column:2;grid-row:1/3;align-self:center;color:var(--soft)}
.fine{margin-top:1.5rem;color:var(--soft);font-size:.9375rem}
@media (max-width:32rem){.links code{display:none}}
`;

export interface PageLink {
  /** The link's name in JSON. */
  name: string;
  href: string;
  title: string;
  text: string;
}

/** Pages load nothing and run no script; the policy allows only their own style, by its hash, and their icon. */
export const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

export function renderPage(title: string, body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
    `<title>${escapeHtml(title)}</title><link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">` +
    `<style>${style}</style></head><body><main>${icon}${body}</main></body></html>`
  );
}

export function renderLinks(links: readonly PageLink[]): string {
  const items = links.map(
    ({ href, title, text }) =>
      `<li><a href="${escapeHtml(href)}"><strong>${escapeHtml(title)}</strong><code>${escapeHtml(href)}</code><span>${escapeHtml(text)}</span></a></li>`,
  );
  return `<ul class="links">${items.join("")}</ul>`;
}

/** Browsers name `text/html` when they navigate; other clients get JSON unless they do the same. */
export const acceptsHtml = (request: FastifyRequest): boolean => /\btext\/html\b/i.test(request.headers.accept ?? "");
