import { canonicalize } from '../canonical-json.js';
import { canonicalizeMasked } from '../masked-json.js';

/** The format of the leaves, which is part of each leaf. */
export const LEAF_FORMAT = 'cadastre-trail-entry/v1';

/** Returns the text of an entry that is hashed behind its salt. `commitments` are in base64, by JSON pointer. */
export const formatLeafText = (entry: unknown, commitments: Readonly<Record<string, string>>): string =>
  `{"commitments":${canonicalize(commitments)},"entry":${canonicalizeMasked(entry, Object.keys(commitments))},` +
  `"format":"${LEAF_FORMAT}"}`;
