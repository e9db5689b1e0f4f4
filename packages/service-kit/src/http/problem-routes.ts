import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptsHtml, escapeHtml, pageHeaders, renderPage } from "./html-page.ts";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** Serves the documentation of each problem `type`: a page for browsers, JSON for other clients, pages of any origin included. */
export function problemRoutes(server: FastifyInstance, kinds: ProblemKind[]): void {
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const hidden = { schema: { hide: true }, config: { access: "anyone", anyOrigin: true } } as const;
  const send = (request: FastifyRequest, reply: FastifyReply, json: object, renderHtml: () => string): FastifyReply => {
    reply.headers({ "cache-control": "public, max-age=3600", vary: "accept" });
    return acceptsHtml(request)
      ? reply.headers(pageHeaders).send(renderHtml())
      : reply.type("application/json; charset=utf-8").send(JSON.stringify(json));
  };

  server.get("/problems", hidden, (request, reply) =>
    send(request, reply, kinds, () => {
      const rows = kinds.map(
        (kind) =>
          `<dt><a href="/problems/${kind.code}">${kind.code}</a> · ${kind.status}</dt><dd>${escapeHtml(kind.title)}</dd>`,
      );
      return renderPage(
        "Problems",
        `<h1>Problems</h1><p class="lead">Every error code, with its status. An error response names its code and links here.</p><dl>${rows.join("")}</dl>`,
      );
    }),
  );

  server.get<{ Params: { code: string } }>("/problems/:code", hidden, (request, reply) => {
    const kind = byCode.get(request.params.code);
    if (kind === undefined) throw new Problem(standardProblems.notFound, "This service has no problem with that code.");
    return send(request, reply, kind, () =>
      renderPage(
        kind.title,
        `<p class="status">${kind.status}</p><h1>${escapeHtml(kind.title)}</h1><p><code>${kind.code}</code></p><p>${withCode(kind.advice)}</p><p class="fine"><a href="/problems">All problems</a></p>`,
      ),
    );
  });
}
