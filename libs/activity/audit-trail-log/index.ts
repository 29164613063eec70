export {
  AuditTrailLogModule,
  auditTrailLogDefinition,
  auditTrailLogEventsDefinition,
} from './audit-trail-log.module.js';
export { createTrailCheckpointJob } from './checkpoints/checkpoints.job.js';
export { PUBLISHED_CHECKPOINT_FILES } from './checkpoints/published-checkpoints.files.js';
export { CHECKPOINTS_TOPIC } from './publishing/checkpoints.published.js';
export { createCheckpointTopicJob } from './publishing/checkpoint-topic.job.js';
export { createTopicGuard } from './publishing/topic-history.service.js';
export { checkpointsChannel } from './publishing/checkpoints.channel.js';
export { createLeafPruningJob } from './retention/leaf-pruning.job.js';
export { selectNewestCheckpoint } from './serving/trail-logs.queries.js';
export { createTimeStampClient } from './time-stamps/time-stamp.client.js';
export { createTimeStampJob } from './time-stamps/time-stamps.job.js';
export { SITE_LOG } from './tiles/hashes.js';
export { verifyTrailLogs, type LogDifference } from './verification/trail-log.verifier.js';
export { TrailLogReader } from './serving/trail-log.reader.js';
export { createTrailWitnessJob, createWitnessGuard } from './witnesses/witnesses.job.js';
