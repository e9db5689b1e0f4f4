import { text } from "node:stream/consumers";
import { errors, type Provider } from "oidc-provider";
import { errorPage, loginPage } from "./login-page.ts";
import { isPersona } from "./personas.ts";

type Middleware = Parameters<Provider["use"]>[0];
type Context = Parameters<Middleware>[0];

async function submitPersona(provider: Provider, context: Context): Promise<void> {
  const interaction = await provider.interactionDetails(context.req, context.res);
  const persona = new URLSearchParams(await text(context.req)).get("persona") ?? "";
  if (!isPersona(persona)) throw new errors.InvalidRequest("there is no such persona");
  if (interaction.session !== undefined) {
    // Otherwise the provider signs the previous persona out first, on a page with a script.
    await (await provider.Session.findByUid(interaction.session.uid))?.destroy();
    interaction.session = undefined;
  }
  interaction.result = { login: { accountId: persona }, consent: {} };
  await interaction.persist();
  context.redirect(interaction.returnTo);
  context.status = 303;
}

async function showLoginPage(provider: Provider, context: Context): Promise<void> {
  const { params } = await provider.interactionDetails(context.req, context.res);
  context.set(loginPage.headers(String(params["redirect_uri"])));
  const clientId = String(params["client_id"]);
  const client = await provider.Client.find(clientId);
  context.body = loginPage.body(client?.clientName ?? clientId);
}

/** Adds the page on which a user chooses a persona. The provider shows it at every sign-in. */
export function addLoginRoutes(provider: Provider): void {
  provider.use(async (context, next) => {
    if (!context.path.startsWith("/interaction/")) {
      await next();
      return;
    }
    try {
      await (context.method === "POST" ? submitPersona(provider, context) : showLoginPage(provider, context));
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      context.status = error.statusCode;
      context.set(errorPage.headers);
      context.body = errorPage.body(error.error, error.error_description ?? "");
    }
  });
}
