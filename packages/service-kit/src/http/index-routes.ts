import type { FastifyInstance } from "fastify";
import { acceptsHtml, escapeHtml, type PageLink, pageHeaders, renderLinks, renderPage } from "./html-page.ts";

/** What a process is, for people and clients that open its root. */
export interface About {
  title: string;
  description: string;
  /** Where the API is, if the process has one: the index is served there too. */
  basePath?: string;
  links: PageLink[];
  /** Wraps the JSON, for services whose responses have a common shape. */
  wrap?: (index: object) => object;
}

const referenceLinks = (basePath: string): PageLink[] => [
  { name: "reference", href: "/docs", title: "API reference", text: "Every route, with its parameters and examples" },
  {
    name: "openapi",
    href: `${basePath}/openapi.json`,
    title: "OpenAPI document",
    text: "The same, for tools and code generators",
  },
];

const healthLink: PageLink = {
  name: "health",
  href: "/health",
  title: "Health",
  text: "Whether this process can serve requests, and its metrics",
};

/** Serves the index at `/` and at the API's base path: a page for browsers, JSON for other clients. */
export function indexRoutes(server: FastifyInstance, about: About): void {
  const { title, description, basePath, wrap = (index) => index } = about;
  const links = [...(basePath === undefined ? [] : referenceLinks(basePath)), ...about.links, healthLink];
  const page = renderPage(
    title,
    `<h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(description)}</p>${renderLinks(links)}`,
  );
  const hrefs = Object.fromEntries(links.map(({ name, href }) => [name, href]));
  const json = JSON.stringify(wrap({ title, description, links: hrefs }));
  const jsonHeaders = { "content-type": "application/json; charset=utf-8" };

  for (const path of ["/", ...(basePath === undefined ? [] : [basePath])]) {
    server.get(path, { schema: { hide: true }, config: { access: "anyone" } }, (request, reply) => {
      reply.headers({ "cache-control": "public, max-age=300", vary: "accept" });
      return acceptsHtml(request) ? reply.headers(pageHeaders).send(page) : reply.headers(jsonHeaders).send(json);
    });
  }
}
