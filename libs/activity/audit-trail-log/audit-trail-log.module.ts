import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ENTRY_VISIBILITY, TrailProofs, type EntryVisibility } from '#activity/audit-trail';
import { sql, type Sql } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { REMOTE_SIGNING_KEY } from './keys/remote-signing-key.token.js';
import { TrailLogKeysHandler, trailLogSeeds } from './keys/trail-log-keys.handler.js';
import { trailLogKeyEvents, trailLogKeys } from './keys/trail-log-keys.js';
import { TrailLogSettingsController } from './keys/trail-log-settings.controller.js';
import { trailLog, trailLogEvents } from './logs/trail-log.js';
import { AuditTrailLogController } from './serving/audit-trail-log.controller.js';
import { AuditTrailLogStatusesController } from './serving/audit-trail-log-statuses.controller.js';
import { LogProofReader } from './serving/log-proofs.reader.js';
import { SiteAuditTrailLogController } from './serving/site-audit-trail-log.controller.js';
import { SITE_LOG } from './tiles/hashes.js';
import { TrailLogReader } from './serving/trail-log.reader.js';
import { TrailProofReader } from './serving/trail-proof.reader.js';
import { AuditTrailLogTimeStampsController } from './time-stamps/audit-trail-log-time-stamps.controller.js';

/**
 * Keys and forks of logs. Their events have audit entries like others, so this module comes before the audit trail itself.
 */
export const auditTrailLogEventsDefinition: ModuleDefinition = {
  name: 'audit-trail-log-events',
  kinds: { ...trailLogEvents, ...trailLogKeyEvents },
  aggregates: [defineAggregate('atlog', trailLog), defineAggregate('tlogkey', trailLogKeys)],
  projections: [toProjection(trailLogSeeds)],
  followers: [],
  migrations: null,
};

/**
 * Deletes what a restore leaves out: tiles and checkpoints with leaves that are not in the log any more. The log of the site
 * is restored as a whole.
 */
const trimBeyond = (table: string, size: string): Sql =>
  sql.raw(`
  delete from ${table} t
   where t.organization <> '${SITE_LOG}' and ${size} > (select coalesce(greatest(max(v.index) + 1, max(l.pruned)), 0) from audit_trail.logs l
                      left join audit_trail.leaves v on v.organization = l.organization
                     where l.organization = t.organization)`);

const withoutLog = { without: 'an organization begins another log at its new site' };

/** The transparency logs of audit trails: tiles of hashes, and checkpoints that the server signs. */
export const auditTrailLogDefinition: ModuleDefinition = {
  name: 'audit-trail-log',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'audit_trail.tiles',
      backup: 'rows',
      organizationExport: withoutLog,
      trim: trimBeyond('audit_trail.tiles', '(t.index + 1) * (256 ^ (t.level + 1))::bigint'),
    },
    {
      table: 'audit_trail.signed_checkpoints',
      backup: 'rows',
      organizationExport: withoutLog,
      trim: trimBeyond('audit_trail.signed_checkpoints', 't.size'),
    },
    { table: 'audit_trail.log_keys', backup: 'rows', organizationExport: withoutLog },
    {
      table: 'audit_trail.site_leaves',
      backup: 'rows',
      organizationExport: { without: 'the log of a site stays there' },
    },
    {
      table: 'audit_trail.time_stamps',
      backup: 'rows',
      organizationExport: { without: 'the log of a site stays there' },
    },
    { table: 'audit_trail.witnesses', backup: 'empty', because: 'witnesses say what they have cosigned' },
    { table: 'audit_trail.sent_checkpoints', backup: 'empty', because: 'all restored checkpoints are sent again' },
    { table: 'audit_trail.unsigned_logs', backup: 'empty', because: 'the restored leaves fill it' },
  ],
};

type AuditTrailLogOptions = {
  readonly auditClientDetails: boolean;
  /** The name of the key in Vault that signs checkpoints; null if the site has the keys itself. */
  readonly trailSigningKey: string | null;
};

/** Serves the transparency logs of audit trails. The projector writes them. */
@Module({})
export class AuditTrailLogModule {
  static with({ auditClientDetails, trailSigningKey }: AuditTrailLogOptions): DynamicModule {
    const visibility: EntryVisibility = { clientDetails: auditClientDetails };
    return {
      module: AuditTrailLogModule,
      // Exports of the audit trail prove entries, and its module is below this one.
      global: true,
      imports: [CqrsModule],
      controllers: [
        AuditTrailLogController,
        AuditTrailLogStatusesController,
        SiteAuditTrailLogController,
        AuditTrailLogTimeStampsController,
        TrailLogSettingsController,
      ],
      providers: [
        TrailLogReader,
        TrailProofReader,
        LogProofReader,
        { provide: TrailProofs, useExisting: LogProofReader },
        TrailLogKeysHandler,
        { provide: ENTRY_VISIBILITY, useValue: visibility },
        { provide: REMOTE_SIGNING_KEY, useValue: trailSigningKey },
      ],
      exports: [TrailProofs],
    };
  }
}
