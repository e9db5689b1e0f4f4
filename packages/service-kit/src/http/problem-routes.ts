import type { FastifyInstance } from "fastify";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
const withCode = (text: string): string => escape(text).replace(/`([^`]+)`/g, "<code>$1</code>");

const style =
  "body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1.5rem;color:#16323c;background:#f7fafa}" +
  "h1{font-size:1.6rem;margin:.2rem 0}code{background:#e3eeee;border-radius:4px;padding:.1em .35em}" +
  "dt{font-weight:600;margin-top:1rem}dd{margin:0}a{color:#0b6e7a}.status{color:#0b6e7a;font-weight:600;letter-spacing:.04em}";

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${style}</style></head><body>${body}</body></html>`;
}

/** Serves the documentation page of each problem `type`. */
export function problemRoutes(server: FastifyInstance, kinds: ProblemKind[]): void {
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "public, max-age=3600",
  };

  const hidden = { schema: { hide: true }, config: { access: "anyone" } } as const;

  server.get("/problems", hidden, (_request, reply) => {
    const rows = kinds.map(
      (kind) =>
        `<dt><a href="/problems/${kind.code}">${kind.code}</a> · ${kind.status}</dt><dd>${escape(kind.title)}</dd>`,
    );
    return reply.headers(headers).send(page("Problems", `<h1>Problems</h1><dl>${rows.join("")}</dl>`));
  });

  server.get<{ Params: { code: string } }>("/problems/:code", hidden, (request, reply) => {
    const kind = byCode.get(request.params.code);
    if (kind === undefined) throw new Problem(standardProblems.notFound, "This service has no problem with that code.");
    const body = `<p class="status">${kind.status}</p><h1>${escape(kind.title)}</h1><p><code>${kind.code}</code></p><p>${withCode(kind.advice)}</p><p><a href="/problems">All problems</a></p>`;
    return reply.headers(headers).send(page(kind.title, body));
  });
}
