import type { FastifyInstance } from "fastify";
import { escapeHtml, pageHeaders, renderPage } from "./html-page.ts";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** Serves the documentation page of each problem `type`. */
export function problemRoutes(server: FastifyInstance, kinds: ProblemKind[]): void {
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const headers = { ...pageHeaders, "cache-control": "public, max-age=3600" };
  const hidden = { schema: { hide: true }, config: { access: "anyone" } } as const;

  server.get("/problems", hidden, (_request, reply) => {
    const rows = kinds.map(
      (kind) =>
        `<dt><a href="/problems/${kind.code}">${kind.code}</a> · ${kind.status}</dt><dd>${escapeHtml(kind.title)}</dd>`,
    );
    return reply
      .headers(headers)
      .send(
        renderPage(
          "Problems",
          `<h1>Problems</h1><p class="lead">Every error code, with its status. An error response names its code and links here.</p><dl>${rows.join("")}</dl>`,
        ),
      );
  });

  server.get<{ Params: { code: string } }>("/problems/:code", hidden, (request, reply) => {
    const kind = byCode.get(request.params.code);
    if (kind === undefined) throw new Problem(standardProblems.notFound, "This service has no problem with that code.");
    const body = `<p class="status">${kind.status}</p><h1>${escapeHtml(kind.title)}</h1><p><code>${kind.code}</code></p><p>${withCode(kind.advice)}</p><p class="fine"><a href="/problems">All problems</a></p>`;
    return reply.headers(headers).send(renderPage(kind.title, body));
  });
}
