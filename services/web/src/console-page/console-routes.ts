import { randomBytes } from "node:crypto";
import { disableCaching, escapeHtml, limitRate } from "@ehr-marketplace/service-kit/http";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { ConsoleUrls } from "../storefront/built-pages.ts";
import { createPageHeaders } from "../storefront/page-headers.ts";
import { texts } from "../storefront/texts.ts";

export interface ConsoleOptions {
  urls: ConsoleUrls;
  /** Where people reach the operator's support. The console reads it from the page. */
  supportUrl: string | undefined;
  mediaOrigin: string;
  /** Signing out goes on there. */
  identityProviderOrigin: string;
  requestsPerMinute: number;
}

const nonceBytes = 16;

/** The page that loads the console, the same for everybody except for the nonce. */
function writePage({ urls, supportUrl }: Pick<ConsoleOptions, "urls" | "supportUrl">, nonce: string): string {
  const { script, preloads, styles, font, theme } = urls;
  const links = [
    ...(supportUrl === undefined ? [] : [`<link rel="help" href="${escapeHtml(supportUrl)}">`]),
    `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin="anonymous">`,
    ...preloads.map((url) => `<link rel="modulepreload" href="${url}">`),
    ...styles.map((url) => `<link rel="stylesheet" href="${url}">`),
  ];
  return `<!doctype html>
<html lang="${texts.language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
<meta property="csp-nonce" nonce="${nonce}">
<title>${escapeHtml(texts.site.name)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${links.join("\n")}
<script src="${theme}"></script>
<script type="module" src="${script}"></script>
</head><body><div id="console"><p class="starting">${escapeHtml(texts.site.starting)} <a href="">${escapeHtml(texts.site.reload)}</a></p></div><noscript>${escapeHtml(texts.site.needsScript)} <a href="/apps">${escapeHtml(texts.site.allApps)}</a></noscript></body></html>
`;
}

/** Every path of the console is the same page; the console shows what the path names. */
export const consoleRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (scope, options) => {
  const { mediaOrigin, identityProviderOrigin } = options;
  disableCaching(scope);
  limitRate(scope, options.requestsPerMinute);
  for (const url of ["/console", "/console/*", "/practice/*"]) {
    scope.get(url, { config: { access: "anyone" } }, (_request, reply) => {
      const nonce = randomBytes(nonceBytes).toString("base64");
      return reply
        .headers(createPageHeaders(mediaOrigin, { styleNonce: nonce, formTarget: identityProviderOrigin }))
        .send(writePage(options, nonce));
    });
  }
};
