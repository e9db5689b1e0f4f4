import { intersectScopes } from "@ehr-marketplace/listing-rules/scopes";
import { type Client, errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import { requestAccessToken } from "../request-access-token.ts";
import { orgAliasOf } from "./fhir-servers.ts";
import { type LaunchContext, redeemLaunch } from "./redeem-launch.ts";
import { grantableScopes, type SmartApp } from "./smart-apps.ts";

export interface SmartOptions {
  /** The EHR that launches are redeemed at. */
  ehrUrl: string;
  apps: SmartApp[];
}

type Grant = InstanceType<Provider["Grant"]>;

const codeLifetimeMs = 60_000;

/** The steps that SMART App Launch adds to an OpenID Connect sign-in. */
export class SmartLaunches {
  readonly apps: readonly SmartApp[];
  readonly #ehrUrl: string;
  readonly #issuer: string;
  /** The launch context by grant, for the token response to the grant's code. */
  readonly #contexts = new Map<string, LaunchContext>();

  constructor(issuer: string, options: SmartOptions) {
    this.#issuer = issuer;
    this.#ehrUrl = options.ehrUrl;
    this.apps = options.apps;
  }

  appOf(client: Client | undefined): SmartApp | undefined {
    return this.apps.find(({ clientId }) => clientId === client?.clientId);
  }

  /** Returns the FHIR server that the app requests, which becomes the audience of its token. */
  audienceOf({ oidc }: KoaContextWithOIDC): string {
    const audience = oidc.params?.["aud"];
    if (typeof audience !== "string") throw new errors.InvalidRequest("aud is missing: the FHIR server's base URL");
    return audience;
  }

  organisationOf(fhirUrl: unknown): string {
    const alias = typeof fhirUrl === "string" ? orgAliasOf(this.#issuer, fhirUrl) : undefined;
    if (alias === undefined) throw new errors.InvalidTarget("aud is not a known FHIR server");
    return alias;
  }

  /** Checks the authorization request before sign-in: apps must be launched from the EHR. */
  assertLaunched({ oidc }: KoaContextWithOIDC, launch: string | undefined, client: Client): void {
    if (this.appOf(client) === undefined) return;
    if (launch === undefined || launch === "")
      throw new errors.InvalidRequest("launch is missing: open the app from the EHR");
    if (!oidc.requestParamScopes.has("launch")) throw new errors.InvalidScope("request the scope launch", "launch");
  }

  /** Redeems the launch for the user who has just signed in. A launch can be redeemed once, even if a later step fails. */
  async redeem({ oidc }: KoaContextWithOIDC, app: SmartApp, grant: Grant): Promise<void> {
    const { launch, resource } = oidc.params ?? {};
    const context = await redeemLaunch(this.#ehrUrl, await requestAccessToken(this.#issuer, "launch-redeemer"), {
      launch: String(launch),
      orgAlias: this.organisationOf(resource),
      appSlug: app.appSlug,
      user: oidc.account?.accountId ?? "",
    });
    grant.addResourceScope(String(resource), intersectScopes(grantableScopes(app).join(" "), context.fhirScopes));
    const grantId = await grant.save();
    this.#contexts.set(grantId, context);
    setTimeout(() => this.#contexts.delete(grantId), codeLifetimeMs).unref();
  }

  /** SMART App Launch 2.2, "Launch context arrives with your access token". */
  addToTokenAnswers(provider: Provider): void {
    provider.use(async (context, next) => {
      await next();
      const { oidc } = context as Partial<KoaContextWithOIDC>;
      const grantId = oidc?.entities.Grant?.jti;
      if (oidc?.route !== "token" || context.status !== 200 || grantId === undefined) return;
      const launch = this.#contexts.get(grantId);
      if (launch === undefined) return;
      this.#contexts.delete(grantId);
      const { patient, encounter, orgAlias } = launch;
      context.body = {
        ...(context.body as object),
        ...(patient === null ? {} : { patient }),
        ...(encounter === null ? {} : { encounter }),
        // The app has a page of its own without a patient banner, so it must show the patient itself.
        need_patient_banner: patient !== null,
        tenant: orgAlias,
      };
    });
  }
}
