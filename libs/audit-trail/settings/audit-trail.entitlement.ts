import type { FeatureSet } from '#organizations';

/** The feature sets with the audit entitlement: `audit-logging` in an organization's entitlement set. */
const ENTITLED: Readonly<Record<FeatureSet, boolean>> = { everything: true, free: false };

/** Whether organizations with this feature set have a trail (clients.md §3). */
export const hasTrail = (featureSet: FeatureSet): boolean => ENTITLED[featureSet];
