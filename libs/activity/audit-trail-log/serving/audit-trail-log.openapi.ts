import { describeController, describeFile } from '#api/json-api/description';
import { TRAIL_LOG } from '../keys/trail-log-settings.openapi.js';
import { AuditTrailLogController } from './audit-trail-log.controller.js';

const NO_LOG = 'The organization has no log yet, or the caller may not read its audit trail.';

export const auditTrailLogOperations = describeController(AuditTrailLogController, TRAIL_LOG, {
  showCheckpoint: {
    operationId: 'getAuditTrailLogCheckpoint',
    summary: 'Show the newest checkpoint of the log',
    description:
      'A [C2SP tlog-checkpoint](https://c2sp.org/tlog-checkpoint): the origin, the number of entries and the root of ' +
      'their Merkle tree, with signatures. A new one follows each entry within ten seconds.',
    answer: describeFile('text/plain', { description: 'The signed checkpoint.' }),
    refusals: { 'not-found': NO_LOG },
  },
  listKeys: {
    operationId: 'listAuditTrailLogKeys',
    summary: 'List the verifier keys of the log',
    description:
      'One [verifier key](https://c2sp.org/signed-note) a line, the present one first. Earlier keys verify earlier ' +
      'checkpoints. The name of a key is the origin of the checkpoints.',
    answer: describeFile('text/plain', { description: 'The verifier keys.' }),
    refusals: { 'not-found': NO_LOG },
  },
  showProof: {
    operationId: 'getAuditTrailLogProof',
    summary: 'Prove that an entry is in the log',
    description:
      'A [C2SP tlog-proof](https://c2sp.org/tlog-proof) with the newest checkpoint. Its `extra` line is the base64 of a JSON ' +
      'object with `salt`, `commitments` and `salts`, which compute the leaf from the entry. A proof stays valid after the ' +
      'entry is deleted. For a new proof of such an entry, name its index; it has no `extra` line.',
    path: {
      entry: {
        description: 'The id of the entry, or its index in the log.',
        example: '9b3d1c2e-6f0a-4f59-8a8f-2f0f4f3c7f10',
      },
    },
    answer: describeFile('text/plain', { description: 'The proof.' }),
    refusals: {
      'not-found': 'There is no such entry in the log, or the caller may not read the audit trail.',
      unavailable: 'No checkpoint contains the entry yet. `Retry-After` says when one does.',
    },
  },
  showTile: {
    operationId: 'getAuditTrailLogTile',
    summary: 'Show a tile of the log',
    description:
      'A [C2SP tlog-tiles](https://c2sp.org/tlog-tiles) tile of hashes, or a bundle of leaves. Partial tiles exist for the ' +
      'sizes of checkpoints. The server keeps the tiles of entries that it has deleted.',
    path: {
      path: { description: 'The level and the index, as in `0/x001/234.p/8` or `entries/000`.', example: '0/000' },
    },
    answer: describeFile('application/octet-stream', {
      description: 'Hashes of 32 bytes, or leaves after their lengths.',
    }),
    refusals: { 'not-found': 'There is no such tile, or the caller may not read the audit trail.' },
  },
});
