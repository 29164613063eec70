import { canonicalize } from '#packages/trail-verifier';
import type { TrailEntry } from '../writing/trail-entry.js';

/** The members of `meta` that can contain personal data, and so are not covered by the digest. */
const PERSONAL_META = ['actor', 'email', 'run_created_by', 'user'];

/**
 * Returns the line of an entry that is older than the log, for the digest of all such entries: canonical JSON (RFC 8785)
 * with null for what can be personal, because nobody must be able to test a guess of a forgotten value with the digest.
 */
export const formatOlderEntry = ({ auth, request, resource, ...rest }: TrailEntry): string => {
  const meta = resource.meta && {
    ...resource.meta,
    ...Object.fromEntries(
      PERSONAL_META.filter((name) => Object.hasOwn(resource.meta ?? {}, name)).map((name) => [name, null]),
    ),
  };
  return `${canonicalize({
    ...rest,
    auth: { ...auth, description: null },
    request: { ...request, address: null, user_agent: null },
    resource: { ...resource, meta },
  })}\n`;
};
