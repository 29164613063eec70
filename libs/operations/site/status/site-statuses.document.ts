import type { JobState } from '../records/job-runs.queries.js';
import type { VerificationRow } from '../records/verifications.queries.js';
import type { SiteFacts } from './site-facts.js';

/** Renders a scheduled job and its last run, if it has run. */
export const renderJob = ({ name, everyMs }: SiteFacts['jobs'][number], state: JobState | undefined): object => ({
  name,
  'every-seconds': everyMs / 1_000,
  'last-run-at': state?.endedAt ?? null,
  'last-result': state ? (state.succeeded ? 'succeeded' : 'failed') : null,
  'last-success-at': state?.succeededAt ?? null,
  'next-run-at': state?.succeeded ? new Date(new Date(state.endedAt).getTime() + everyMs).toISOString() : null,
});

/** Renders the last verification, or null. */
export const renderVerification = (row: VerificationRow | null): object | null =>
  row && {
    'ended-at': row.endedAt,
    result: row.clean ? 'clean' : 'faulty',
    transaction: row.transaction,
    position: row.position,
  };
