import { escapeHtml, limitRate, Problem, pageHeaders, renderPage } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Confirmation, readConfirmationToken } from "./confirmation-token.ts";
import { nameKinds } from "./kind-names.ts";
import { findAudienceTitle } from "./notice-audience.ts";
import { noticeProblems } from "./notice-errors.ts";
import { confirmByLink, muteByLink } from "./notice-settings.ts";
import type { NoticeDeps } from "./read-notices.ts";
import { readUnsubscribeToken, type Unsubscription } from "./unsubscribe-token.ts";

interface MailLinkOptions extends NoticeDeps {
  unsubscribeDigest: KeyedDigest;
  confirmationDigest: KeyedDigest;
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

/** What a page says, as text. */
interface Page {
  title: string;
  text: string;
  /** Of the button that posts the link. */
  button?: string;
}

function render({ title, text, button }: Page): string {
  const form = button === undefined ? "" : `<form method="post"><p><button>${escapeHtml(button)}</button></p></form>`;
  return renderPage(title, `<h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(text)}</p>${form}`);
}

interface LinkPage<Link> {
  path: string;
  /** Throws if the link is not one that we have sent. */
  read: (token: string) => Link;
  show: (link: Link) => Page | Promise<Page>;
  act: (link: Link, requestId: string) => Promise<Page>;
}

/**
 * The links of mails, for people and, to unsubscribe, for mail programs (RFC 8058). Programs that check links request them, too, so GET changes
 * nothing: its page has a button that posts.
 */
export async function mailLinkRoutes(scope: FastifyInstance, options: MailLinkOptions): Promise<void> {
  limitRate(scope, options.requestsPerMinute);
  // Mail programs send a form, which says nothing that the token doesn't say.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null, undefined));
  registerPage(scope, unsubscribePage(options));
  registerPage(scope, confirmationPage(options));
}

function registerPage<Link>(scope: FastifyInstance, { path, read, show, act }: LinkPage<Link>): void {
  const linkOf = (request: FastifyRequest): Link => read((request.query as { token: string }).token);
  const options = { config: { access: "anyone" }, schema } as const;
  const send = async (request: FastifyRequest, reply: FastifyReply, makePage: () => Promise<Page>) => {
    try {
      return await reply.headers(headers).send(render(await makePage()));
    } catch (error) {
      // A browser shows a page; programs get the problem.
      if (!(error instanceof Problem) || !request.headers.accept?.includes("text/html")) throw error;
      return reply.code(error.kind.status).headers(headers).send(render(brokenLink));
    }
  };
  scope.get(path, options, (request, reply) => send(request, reply, async () => show(linkOf(request))));
  scope.post(path, options, (request, reply) => send(request, reply, () => act(linkOf(request), request.id)));
}

const brokenLink: Page = {
  title: "This link no longer works",
  text: "It has expired, or the email address was changed. An admin can send a new link, or change which emails you get, in the notice settings.",
};

const unsubscribePage = ({ unsubscribeDigest: digest, ...deps }: MailLinkOptions): LinkPage<Unsubscription> => ({
  path: "/notices/unsubscribe",
  read(token) {
    const found = readUnsubscribeToken(digest, token);
    if (found === undefined) throw new Problem(noticeProblems.linkInvalid, "The link is not one that we have sent.");
    return found;
  },
  show: ({ kinds }) => ({
    title: "Stop these emails?",
    text: `You won't get emails about ${nameKinds(kinds)} anymore. The notices stay in your list.`,
    button: "Stop these emails",
  }),
  async act(link, requestId) {
    await muteByLink({ ...deps, digest }, link, requestId);
    const text = `You won't get emails about ${nameKinds(link.kinds)} anymore. You can turn them on again in the notice settings.`;
    return { title: "Emails stopped", text };
  },
});

const confirmationPage = ({ confirmationDigest: digest, ...deps }: MailLinkOptions): LinkPage<Confirmation> => ({
  path: "/notices/confirm",
  read(token) {
    const found = readConfirmationToken(digest, token, deps.clock());
    if (found === undefined) {
      throw new Problem(noticeProblems.confirmationInvalid, "The link has expired, or is not one that we have sent.");
    }
    return found;
  },
  show: async ({ audience }) => ({
    title: "Confirm your email address?",
    text: `You will then get the notices of ${await findAudienceTitle(deps.database, audience)} from EHR Marketplace by email.`,
    button: "Confirm",
  }),
  async act(link, requestId) {
    await confirmByLink({ ...deps, digest }, link, requestId);
    return {
      title: "Address confirmed",
      text: "From now on, notices are sent to your address. Each has a link to stop them.",
    };
  },
});
