import { type Client, errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import { requestAccessToken } from "../request-access-token.ts";
import { orgAliasOf } from "./fhir-servers.ts";
import { type LaunchContext, redeemLaunch } from "./redeem-launch.ts";
import { grantableScopes, type SmartApp } from "./smart-apps.ts";

export interface SmartOptions {
  /** Which EHR's launches are redeemed. */
  ehrUrl: string;
  apps: SmartApp[];
}

type Grant = InstanceType<Provider["Grant"]>;

const codeLivesMs = 60_000;

/** The part of the sign-in of an app that SMART App Launch adds to OpenID Connect. */
export class SmartLaunches {
  readonly apps: readonly SmartApp[];
  readonly #ehrUrl: string;
  readonly #issuer: string;
  /** By grant: what goes into the one token answer that the grant's code is exchanged for. */
  readonly #contexts = new Map<string, LaunchContext>();

  constructor(issuer: string, options: SmartOptions) {
    this.#issuer = issuer;
    this.#ehrUrl = options.ehrUrl;
    this.apps = options.apps;
  }

  appOf(client: Client | undefined): SmartApp | undefined {
    return this.apps.find(({ clientId }) => clientId === client?.clientId);
  }

  /** The FHIR server that the app wants to use, which decides for whom its token is. */
  audienceOf({ oidc }: KoaContextWithOIDC): string {
    const audience = oidc.params?.["aud"];
    if (typeof audience !== "string") throw new errors.InvalidRequest("aud is missing: the FHIR server's base URL");
    return audience;
  }

  organisationOf(fhirUrl: unknown): string {
    const alias = typeof fhirUrl === "string" ? orgAliasOf(this.#issuer, fhirUrl) : undefined;
    if (alias === undefined) throw new errors.InvalidTarget("aud is none of the FHIR servers here");
    return alias;
  }

  /** Before anybody is asked to sign in: no app of ours is opened but from the EHR. */
  assertLaunched({ oidc }: KoaContextWithOIDC, launch: string | undefined, client: Client): void {
    if (this.appOf(client) === undefined) return;
    if (launch === undefined || launch === "")
      throw new errors.InvalidRequest("launch is missing: open the app from the EHR");
    if (!oidc.requestParamScopes.has("launch")) throw new errors.InvalidScope("ask for the scope launch", "launch");
  }

  /** Redeems the launch for the one who has just signed in. It is spent by this, whatever comes after. */
  async redeem({ oidc }: KoaContextWithOIDC, app: SmartApp, grant: Grant): Promise<void> {
    const { launch, resource } = oidc.params ?? {};
    const context = await redeemLaunch(this.#ehrUrl, await requestAccessToken(this.#issuer, "launch-redeemer"), {
      launch: String(launch),
      orgAlias: this.organisationOf(resource),
      appSlug: app.appSlug,
      user: oidc.account?.accountId ?? "",
    });
    grant.addResourceScope(String(resource), grantableScopes(app).join(" "));
    const grantId = await grant.save();
    this.#contexts.set(grantId, context);
    setTimeout(() => this.#contexts.delete(grantId), codeLivesMs).unref();
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
        // The app has a page of its own: nobody else says there whose chart it is.
        need_patient_banner: patient !== null,
        tenant: orgAlias,
      };
    });
  }
}
