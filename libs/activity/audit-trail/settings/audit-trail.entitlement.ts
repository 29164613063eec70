import type { FeatureSet } from '#organizations/organizations';

/** Whether a feature set has the audit entitlement: `audit-logging` in an organization's entitlement set. */
const ENTITLED: Readonly<Record<FeatureSet, boolean>> = { everything: true, free: false };

/** Returns whether organizations with this feature set have an audit trail. */
export const hasTrail = (featureSet: FeatureSet): boolean => ENTITLED[featureSet];
