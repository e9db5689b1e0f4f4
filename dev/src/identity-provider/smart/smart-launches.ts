import { intersectScopes, splitScopes } from "@ehr-marketplace/listing-rules/scopes";
import { type Client, errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import { isApp } from "../clients.ts";
import { type LaunchContext, redeemLaunch } from "./redeem-launch.ts";
import type { SmartApps } from "./smart-apps.ts";

type Grant = InstanceType<Provider["Grant"]>;
type Context = KoaContextWithOIDC["oidc"];

export interface SmartLaunchesOptions {
  /** The EHR that launches are redeemed at. */
  ehrUrl: string;
  getToken: () => Promise<string>;
  /** How long a grant is valid: tokens that are refreshed carry the context of the launch too. */
  grantLifetimeMs: number;
}

const maxContexts = 10_000;

/** The steps that SMART App Launch adds to an OpenID Connect sign-in. */
export class SmartLaunches {
  readonly #apps: SmartApps;
  readonly #options: SmartLaunchesOptions;
  /** The launch context by grant, for its token responses. */
  readonly #contexts = new Map<string, LaunchContext>();

  constructor(apps: SmartApps, options: SmartLaunchesOptions) {
    this.#apps = apps;
    this.#options = options;
  }

  /** Checks the authorization request before sign-in: apps must be launched from the EHR. */
  assertLaunched({ oidc }: KoaContextWithOIDC, launch: string | undefined, client: Client): void {
    if (!isApp(client)) return;
    if (launch === undefined || launch === "")
      throw new errors.InvalidRequest("launch is missing: open the app from the EHR");
    if (!oidc.requestParamScopes.has("launch")) {
      throw new errors.InvalidScope("request the scope launch, which the organisation must have agreed to", "launch");
    }
  }

  /** Redeems the launch for the user who has just signed in. A launch can be redeemed once, even if a later step fails. */
  async redeem(context: KoaContextWithOIDC, client: Client, grant: Grant): Promise<void> {
    const { oidc } = context;
    const { launch, resource } = oidc.params ?? {};
    const { appSlug } = await this.#apps.requireActive(context, client, resource);
    const launched = await redeemLaunch(this.#options.ehrUrl, await this.#options.getToken(), {
      launch: String(launch),
      orgAlias: this.#apps.organisationOf(resource),
      appSlug,
      user: oidc.account?.accountId ?? "",
    });
    addScopes(grant, oidc, launched.fhirScopes);
    this.#keep(await grant.save(), launched);
  }

  #keep(grantId: string, launched: LaunchContext): void {
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size >= maxContexts && oldest !== undefined) this.#contexts.delete(oldest);
    this.#contexts.set(grantId, launched);
    setTimeout(() => this.#contexts.delete(grantId), this.#options.grantLifetimeMs).unref();
  }

  /** SMART App Launch 2.2, "Launch context arrives with your access token"; it may come with a refreshed one too. */
  addToTokenAnswers(provider: Provider): void {
    provider.use(async (context, next) => {
      await next();
      const { oidc } = context as Partial<KoaContextWithOIDC>;
      const grantId = oidc?.entities.Grant?.jti;
      if (oidc?.route !== "token" || context.status !== 200 || grantId === undefined) return;
      const launch = this.#contexts.get(grantId);
      if (launch === undefined) return;
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

/** Grants what the organisation has agreed to, as the EHR says now, and rejects the rest: the library would ask for it again. */
function addScopes(
  grant: Grant,
  { params, requestParamScopes, requestParamOIDCScopes }: Context,
  agreed: string,
): void {
  const resource = String(params?.["resource"]);
  const granted = requestParamScopes.intersection(
    new Set(splitScopes(intersectScopes(listOf(requestParamScopes), agreed))),
  );
  const rejected = requestParamScopes.difference(granted);
  grant.addResourceScope(resource, listOf(granted));
  grant.addOIDCScope(listOf(granted.intersection(requestParamOIDCScopes)));
  grant.rejectResourceScope(resource, listOf(rejected));
  grant.rejectOIDCScope(listOf(rejected.intersection(requestParamOIDCScopes)));
}

const listOf = (scopes: Set<string>): string => [...scopes].join(" ");
