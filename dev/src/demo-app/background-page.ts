import { escapeXml as escape } from "../demo-data/escape-xml.ts";
import type { BackgroundAccess } from "./background-service.ts";

function row({ orgAlias, scope, expiresInSeconds, reason }: BackgroundAccess): string {
  const detail =
    scope === null ? escape(reason ?? "") : `<code>${escape(scope)}</code> for ${expiresInSeconds ?? 0} seconds`;
  return `<dt>${escape(orgAlias)}: ${scope === null ? "no access" : "access"}</dt><dd>${detail}</dd>`;
}

/** Shows for which practices the background service gets a token, and with which scopes. */
export function backgroundPage(name: string, accesses: readonly BackgroundAccess[]): string {
  const rows = accesses.length === 0 ? "<dt>No practice’s EHR has connected the app.</dt>" : accesses.map(row).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(name)} in the background</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header class="bar"><div class="brand"><img src="/icon.svg" alt="" width="36" height="36"><span>${escape(name)}</span></div></header>
<main>
  <section class="card">
    <h1>In the background</h1>
    <p class="lead">Nobody signs in: the service has just asked each practice’s authorization server for a token, with its own key.</p>
    <dl>${rows}</dl>
  </section>
</main>
<footer>A demo by Northwind Health. It shows what was granted, and reads no clinical data.</footer>
</body>
</html>
`;
}
