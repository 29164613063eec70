import { z } from 'zod';
import { count, defineResource, describeController, exampleText, timestamp } from '#api/json-api/description';
import { TRAIL_LOG } from '../keys/trail-log-settings.openapi.js';
import { AuditTrailLogStatusesController } from './audit-trail-log-statuses.controller.js';

const signedSize = {
  origin: exampleText(
    'cadastre.example.com/org-7hGt3KmPq9RsVw2X',
    'The origin of the checkpoint, which names its log.',
  ),
  size: count('The number of entries in the checkpoint.').meta({ examples: [48_211] }),
  'signed-at': timestamp('When the server signed the checkpoint.'),
};

const VERIFIER_KEY = 'cadastre.example.com/org-7hGt3KmPq9RsVw2X+46578034+AVx…';

export const auditTrailLogStatusSchema = defineResource({
  name: 'AuditTrailLogStatus',
  type: 'audit-trail-log-statuses',
  description:
    'The newest checkpoint of the log of an organization’s audit trail, and who has cosigned the log of the site. It is what the server says: verify the log itself with the files of the log.',
  exampleId: 'org-7hGt3KmPq9RsVw2X',
  attributes: {
    ...signedSize,
    'verifier-key': exampleText(VERIFIER_KEY, 'The key that signs the checkpoints.'),
    'entry-count': count('The number of entries in the log, also those that no checkpoint contains yet.').meta({
      examples: [48_212],
    }),
    'previous-origins': z.array(z.strictObject(signedSize)).meta({
      description:
        'The origins under which the log was signed before the database was restored, with their last checkpoints.',
    }),
    'site-log': z
      .strictObject({
        ...signedSize,
        witnessed: z.boolean().meta({
          description: 'Whether a quorum of witnesses has cosigned it.',
          examples: [true],
        }),
      })
      .nullable()
      .meta({
        description:
          'The checkpoint of the log of the site that the server shows. The log contains digests of the checkpoints of all organizations.',
      }),
    witnesses: z
      .array(
        z.strictObject({
          'verifier-key': exampleText('auditor.example.com/witness+1a2b3c4d+BL…', 'The key of the witness.'),
          size: count('The size of the last checkpoint of the log of the site that the witness has cosigned.').meta({
            examples: [9_312],
          }),
        }),
      )
      .meta({ description: 'The witnesses that have cosigned the log of the site.' }),
    'time-stamp': z
      .strictObject({
        id: exampleText(
          '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          'The id of the time stamp, which names its files.',
        ),
        size: count('The size of the checkpoint of the log of the site that has the time stamp.').meta({
          examples: [9_312],
        }),
        authority: exampleText('Example Time Stamp Authority', 'The name in the certificate of the authority.'),
        'stamped-at': timestamp('The time in the stamp, by the clock of the authority.'),
      })
      .nullable()
      .meta({ description: 'The newest time stamp of a checkpoint of the log of the site.' }),
  },
  hasSelfLink: true,
});

export const auditTrailLogStatusesOperations = describeController(
  AuditTrailLogStatusesController,
  { ...TRAIL_LOG, resource: auditTrailLogStatusSchema },
  {
    show: {
      summary: 'Show the state of the log of an audit trail',
      refusals: { 'not-found': 'No checkpoint was signed yet, or the caller may not read the audit trail.' },
    },
  },
);
