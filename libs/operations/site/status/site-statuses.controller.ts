import { Controller, Get, Inject } from '@nestjs/common';
import { Database } from '#platform/postgres';
import { CurrentActor, requirePermission, SITE_SCOPE, verifyCurrentAccess, type Actor } from '#api/access';
import { readFollowerStates } from '#storage/event-store';
import { renderDocument, type Document } from '#api/json-api';
import { type JobState, readJobStates } from '../records/job-runs.queries.js';
import { type VerificationRow, readVerification } from '../records/verifications.queries.js';
import { type SiteFacts, SITE_FACTS } from './site-facts.js';
import { listProcesses, readDatabaseFacts } from './site-statuses.queries.js';

/** Renders a scheduled job and its last run, if it has run. */
const renderJob = ({ name, everyMs }: SiteFacts['jobs'][number], state: JobState | undefined): object => ({
  name,
  'every-seconds': everyMs / 1_000,
  'last-run-at': state?.endedAt ?? null,
  'last-result': state ? (state.succeeded ? 'succeeded' : 'failed') : null,
  'last-success-at': state?.succeededAt ?? null,
  'next-run-at': state?.succeeded ? new Date(new Date(state.endedAt).getTime() + everyMs).toISOString() : null,
});

/** Renders the last verification, or null. */
const renderVerification = (row: VerificationRow | null): object | null =>
  row && {
    'ended-at': row.endedAt,
    result: row.clean ? 'clean' : 'faulty',
    transaction: row.transaction,
    position: row.position,
  };

const PATH = '/api/v2/admin/site-status';

@Controller('api/v2/admin/site-status')
export class SiteStatusesController {
  constructor(
    private readonly database: Database,
    @Inject(SITE_FACTS) private readonly facts: SiteFacts,
  ) {}

  @Get()
  async show(@CurrentActor() actor: Actor): Promise<Document> {
    await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'manage-site', SITE_SCOPE);
    const { version, settings, followers, jobs } = this.facts;
    const [{ postgresVersion, databaseBytes, events }, processes, states, jobStates, verification] = await Promise.all([
      readDatabaseFacts(this.database),
      listProcesses(this.database),
      readFollowerStates(this.database, followers),
      readJobStates(this.database),
      readVerification(this.database),
    ]);
    return renderDocument({
      id: 'site',
      type: 'site-statuses',
      attributes: {
        version,
        'postgres-version': postgresVersion,
        'database-bytes': databaseBytes,
        'event-count': events,
        settings,
        processes,
        followers: states.map(({ name, isLed, behind, idleSeconds }) => ({
          name,
          running: isLed,
          behind,
          'idle-seconds': idleSeconds,
        })),
        'scheduled-jobs': jobs.map((job) => renderJob(job, jobStates.get(job.name))),
        'last-verification': renderVerification(verification),
      },
      links: { self: PATH },
    });
  }
}
