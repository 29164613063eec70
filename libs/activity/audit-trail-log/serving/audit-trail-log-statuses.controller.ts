import { Controller, Get, Header, Param } from '@nestjs/common';
import { ConfigureRoute, CurrentActor, loadParentOrganization, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { findTrailLogStatus, type SignedSize } from './trail-log-status.queries.js';

const renderSignedSize = ({ origin, size, signedAt }: SignedSize): object => ({ origin, size, 'signed-at': signedAt });

/** The state of the log of an organization's audit trail, for people: files of the log have no times. */
@Controller('api/v2/organizations/:organization/audit-trail-log')
export class AuditTrailLogStatusesController {
  constructor(private readonly database: Database) {}

  @Get()
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('cache-control', 'private, no-cache')
  async show(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { organization } = await loadParentOrganization(this.database, actor, 'read-audit-trail', name);
    const status = await findTrailLogStatus(this.database, organization);
    if (!status) throw notFound();
    const { entries, verifierKey, previous, siteLog, witnesses, timeStamp } = status;
    return renderDocument({
      id: organization,
      type: 'audit-trail-log-statuses',
      attributes: {
        ...renderSignedSize(status),
        'verifier-key': verifierKey,
        'entry-count': entries,
        'previous-origins': previous.map(renderSignedSize),
        'site-log': siteLog && { ...renderSignedSize(siteLog), witnessed: siteLog.witnessed },
        witnesses: witnesses.map((witness) => ({ 'verifier-key': witness.verifierKey, size: witness.size })),
        'time-stamp': timeStamp && {
          id: timeStamp.id,
          size: timeStamp.size,
          authority: timeStamp.authority,
          'stamped-at': timeStamp.stampedAt,
        },
      },
      links: { self: `/api/v2/organizations/${name}/audit-trail-log` },
    });
  }
}
