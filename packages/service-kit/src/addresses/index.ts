export { canonicaliseNetwork, isAllowedAddress, isInNetworks } from "./allowed-address.ts";
