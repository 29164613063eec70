import { describeController } from '#api/json-api/description';
import { TrailLogSettingsController } from './trail-log-settings.controller.js';

export const TRAIL_LOG = {
  name: 'Audit trail log',
  description:
    'The transparency log of an organization’s audit trail. Public tools verify with it that the trail is complete, unaltered and in order.',
};

export const trailLogSettingsOperations = describeController(TrailLogSettingsController, TRAIL_LOG, {
  rotateKey: {
    operationId: 'rotateAuditTrailLogKey',
    summary: 'Sign checkpoints with a new key',
    description:
      'Earlier keys also sign until `trim-key`, so that readers have time to learn the new key. The next checkpoint of ' +
      'each organization adds an entry to its audit trail that contains the new verifier key, signed by the earlier ones.',
    events: ['AuditTrailLogKeyRotated'],
  },
  trimKey: {
    operationId: 'trimAuditTrailLogKeys',
    summary: 'Sign checkpoints with the newest key only',
    description:
      'Deletes the earlier private keys. Their verifier keys stay published, because saved checkpoints need them.',
    events: ['AuditTrailLogKeysTrimmed'],
  },
});
