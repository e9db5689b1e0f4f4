import { Type } from "typebox";

export const epochHeader = "x-marketplace-epoch";

const epochPattern = "^([0-9a-f]{16})\\.([0-9]{1,10})\\.([0-9]{1,20})$";

/** Of the responses that an EHR reconciles from. */
export const epochHeaderSchema = Type.String({
  pattern: epochPattern,
  description:
    "The state that the response comes from, opaque but for comparing: `system.timeline.position`. Another system or timeline, or a lower position than an earlier response had, means that the marketplace was restored from a backup, or that another database server took over: changes that were seen before may be lost",
  examples: ["9f2c41d07be3a856.1.23998720"],
});

export interface MarketplaceEpoch {
  /** The database: another one after a dump was restored. */
  system: string;
  /** Another one after a base backup was restored, or a standby was promoted. */
  timeline: number;
  /** Only grows, unless files are put back. */
  position: bigint;
}

export const formatEpoch = ({ system, timeline, position }: MarketplaceEpoch): string =>
  `${system}.${timeline}.${position}`;

/** Undefined for a header that is missing, as from an older marketplace, or malformed. */
export function parseEpoch(header: string | null): MarketplaceEpoch | undefined {
  const [, system, timeline, position] = new RegExp(epochPattern).exec(header ?? "") ?? [];
  if (system === undefined || timeline === undefined || position === undefined) return undefined;
  return { system, timeline: Number(timeline), position: BigInt(position) };
}
