import { escapeHtml, limitRate, Problem, pageHeaders, renderPage } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { noticeProblems } from "./notice-errors.ts";
import { muteByLink } from "./notice-settings.ts";
import type { NoticeDeps } from "./read-notices.ts";
import { readUnsubscribeToken, type Unsubscription } from "./unsubscribe-token.ts";

interface UnsubscribeOptions extends NoticeDeps {
  digest: KeyedDigest;
  requestsPerMinute: number;
}

const schema = {
  hide: true,
  querystring: {
    type: "object",
    required: ["token"],
    properties: { token: { type: "string", maxLength: 1_000 } },
  },
} as const;

const headers = {
  ...pageHeaders,
  "content-security-policy": pageHeaders["content-security-policy"].replace("form-action 'none'", "form-action 'self'"),
  "cache-control": "no-store",
};

const namesOf = ({ kinds }: Unsubscription): string => kinds.map(escapeHtml).join(", ");

/**
 * The link at the end of a mail, for people and for mail programs (RFC 8058). Programs that check links request it, too, so GET changes nothing; what
 * it shows is in the token.
 */
export async function unsubscribeRoutes(scope: FastifyInstance, options: UnsubscribeOptions): Promise<void> {
  limitRate(scope, options.requestsPerMinute);
  // Mail programs send a form, which says nothing that the token doesn't say.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null, undefined));

  const read = (request: FastifyRequest): Unsubscription => {
    const { token } = request.query as { token: string };
    const found = readUnsubscribeToken(options.digest, token);
    if (found === undefined) throw new Problem(noticeProblems.linkInvalid, "The link is not one that we have sent.");
    return found;
  };

  scope.get("/notices/unsubscribe", { config: { access: "anyone" }, schema }, (request, reply) => {
    const text = `<h1>No more mails?</h1><p class="lead">About: ${namesOf(read(request))}. You still find these notices in the list.</p>`;
    const form = '<form method="post"><p><button>Send no more mails about this</button></p></form>';
    return reply.headers(headers).send(renderPage("No more mails?", text + form));
  });

  scope.post("/notices/unsubscribe", { config: { access: "anyone" }, schema }, async (request, reply) => {
    const link = read(request);
    await muteByLink(options, link, request.id);
    const done = `<h1>Done</h1><p class="lead">No more mails are sent about: ${namesOf(link)}. The notice settings can undo this.</p>`;
    return reply.headers(headers).send(renderPage("Done", done));
  });
}
