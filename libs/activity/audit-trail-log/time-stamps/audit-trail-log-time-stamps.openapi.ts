import {
  count,
  defineResource,
  describeController,
  describeFile,
  exampleText,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { TRAIL_LOG } from '../keys/trail-log-settings.openapi.js';
import { AuditTrailLogTimeStampsController } from './audit-trail-log-time-stamps.controller.js';

const EXAMPLE_ID = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const auditTrailLogTimeStampSchema = defineResource({
  name: 'AuditTrailLogTimeStamp',
  type: 'audit-trail-log-time-stamps',
  description:
    'A time stamp (RFC 3161) of a checkpoint of the log of the site. The id is the SHA-256 of the stamped bytes, which the link `checkpoint` has; the link `time-stamp` has the answer of the authority. The server verified it before it stored it: verify it yourself with `openssl ts -verify`.',
  exampleId: EXAMPLE_ID,
  attributes: {
    origin: exampleText('cadastre.example.com/audit-trail-log', 'The origin of the checkpoint, which names its log.'),
    size: count('The number of entries in the checkpoint.').meta({ examples: [9_312] }),
    authority: exampleText('Example Time Stamp Authority', 'The name in the certificate of the authority.'),
    policy: exampleText('1.2.3.4.1', 'The object identifier of the policy of the authority.'),
    'stamped-at': timestamp('The time in the stamp, by the clock of the authority.'),
  },
  links: {
    checkpoint: serverPath(`/audit-trail-log/time-stamps/${EXAMPLE_ID}/checkpoint`),
    'time-stamp': serverPath(`/audit-trail-log/time-stamps/${EXAMPLE_ID}/checkpoint.tsr`),
  },
});

const id = { description: 'The id of the time stamp.', example: EXAMPLE_ID };

export const auditTrailLogTimeStampsOperations = describeController(
  AuditTrailLogTimeStampsController,
  { ...TRAIL_LOG, resource: auditTrailLogTimeStampSchema },
  {
    list: {
      summary: 'List the time stamps of the log of the site',
      description: 'The newest first. The list is empty if the site has no time stamp authority.',
    },
    showCheckpoint: {
      operationId: 'getAuditTrailLogTimeStampCheckpoint',
      summary: 'Show the checkpoint that has a time stamp',
      description: 'The bytes that the authority has stamped.',
      path: { id },
      answer: describeFile('text/plain', { description: 'The signed checkpoint.' }),
      refusals: { 'not-found': 'There is no such time stamp.' },
    },
    showTimeStamp: {
      operationId: 'getAuditTrailLogTimeStamp',
      summary: 'Show a time stamp of the log of the site',
      path: { id },
      answer: describeFile('application/timestamp-reply', { description: 'The answer of the authority, as DER.' }),
      refusals: { 'not-found': 'There is no such time stamp.' },
    },
  },
);
