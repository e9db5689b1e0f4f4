export { canonicalNetwork, isAdmitted, isWithin } from "./admit-address.ts";
