/** What the console needs beside. */
interface PolicyAdditions {
  styleNonce: string;
  /** Origin to which a form may be redirected. */
  formTarget: string;
}

/**
 * The headers of every page. Scripts, styles and fonts come from our own origin; pictures also from that of the apps' media. Nothing
 * inline runs.
 */
export function createPageHeaders(mediaOrigin: string, additions?: PolicyAdditions): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self'${additions === undefined ? "" : ` 'nonce-${additions.styleNonce}'`}`,
      "font-src 'self'",
      "connect-src 'self'",
      `img-src 'self' ${mediaOrigin}`,
      "base-uri 'none'",
      `form-action 'self'${additions === undefined ? "" : ` ${additions.formTarget}`}`,
      "frame-ancestors 'none'",
    ].join("; "),
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
  };
}
