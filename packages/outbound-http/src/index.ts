export { createOutboundClient, type OutboundClient, type OutboundResult } from "./outbound-client.ts";
export { createResolver, type Resolve, type Resolver } from "./resolver.ts";
export { findRefusal, type Refusal } from "./target.ts";
