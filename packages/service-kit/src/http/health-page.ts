import { escapeHtml, type PageLink, renderLinks, renderPage } from "./html-page.ts";

const links: PageLink[] = [
  { name: "ready", href: "/health/ready", title: "Readiness", text: "200 while this process can serve requests" },
  { name: "live", href: "/health/live", title: "Liveness", text: "200 while this process runs" },
  { name: "metrics", href: "/metrics", title: "Metrics", text: "For Prometheus; in production with METRICS_TOKEN" },
];

export const healthLinks = Object.fromEntries(links.map(({ name, href }) => [name, href]));

/** Renders the health of a process; `reason` is the code of why it isn't ready. */
export function renderHealthPage(reason: string | undefined): string {
  const state =
    reason === undefined
      ? '<p class="status good">200</p><h1>Ready</h1><p class="lead">This process can serve requests.</p>'
      : `<p class="status bad">503</p><h1>Not ready</h1><p class="lead">The reason: ${escapeHtml(reason)}. The log has the details.</p>`;
  return renderPage("Health", `${state}${renderLinks(links)}<p class="fine"><a href="/">Overview</a></p>`);
}
