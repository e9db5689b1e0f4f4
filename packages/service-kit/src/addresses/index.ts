export { canonicalNetwork, isAdmitted } from "./admit-address.ts";
