export { createOutboundClient, type OutboundClient, type OutboundResult } from "./outbound-client.ts";
export { createResolver, type Resolve, type Resolver } from "./resolver.ts";
export { checkTarget, type Refusal, unresolvedDetail } from "./target.ts";
