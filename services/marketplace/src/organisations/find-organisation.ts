export { findOrganisationId } from "./organisation-store.ts";
