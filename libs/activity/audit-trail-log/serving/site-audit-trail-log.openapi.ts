import { describeController, describeFile } from '#api/json-api/description';
import { TRAIL_LOG } from '../keys/trail-log-settings.openapi.js';
import { SiteAuditTrailLogController } from './site-audit-trail-log.controller.js';

const NO_LOG = 'No checkpoint was signed yet.';

export const siteAuditTrailLogOperations = describeController(SiteAuditTrailLogController, TRAIL_LOG, {
  showCheckpoint: {
    operationId: 'getSiteAuditTrailLogCheckpoint',
    summary: 'Show the newest checkpoint of the log of the site',
    description:
      'A [C2SP tlog-checkpoint](https://c2sp.org/tlog-checkpoint), with the cosignatures of witnesses if the site has ' +
      'witnesses. Each entry of the log has the SHA-256 of the origin of an organization’s log, and the SHA-256 of the text of ' +
      'one of its checkpoints.',
    answer: describeFile('text/plain', { description: 'The signed checkpoint.' }),
    refusals: { 'not-found': NO_LOG },
  },
  listKeys: {
    operationId: 'listSiteAuditTrailLogKeys',
    summary: 'List the verifier keys of the log of the site',
    answer: describeFile('text/plain', { description: 'The verifier keys, the present one first.' }),
    refusals: { 'not-found': NO_LOG },
  },
  showProof: {
    operationId: 'getSiteAuditTrailLogProof',
    summary: 'Prove that the log of the site has a checkpoint',
    description:
      'A [C2SP tlog-proof](https://c2sp.org/tlog-proof) with the checkpoint of the log of the site and the cosignatures of ' +
      'witnesses. The entry has the SHA-256 of the origin of an organization’s log, and the SHA-256 of the text of the checkpoint.',
    path: {
      digest: {
        description: 'The SHA-256 of the text of the checkpoint (origin, size and root) in hexadecimal digits.',
        example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
    },
    answer: describeFile('text/plain', { description: 'The proof.' }),
    refusals: {
      'not-found': 'The log of the site does not have this checkpoint.',
      unavailable:
        'The newest checkpoint of the log of the site does not contain it yet. `Retry-After` says when one does.',
    },
  },
  showTile: {
    operationId: 'getSiteAuditTrailLogTile',
    summary: 'Show a tile of the log of the site',
    path: {
      path: { description: 'The level and the index, as in `0/x001/234.p/8` or `entries/000`.', example: '0/000' },
    },
    answer: describeFile('application/octet-stream', {
      description: 'Hashes of 32 bytes, or leaves after their lengths.',
    }),
    refusals: { 'not-found': 'There is no such tile.' },
  },
});
