import { Counter, Gauge } from 'prom-client';

export const checkpointMetrics = {
  signed: new Counter({
    name: 'cadastre_trail_checkpoints_signed_total',
    help: 'Checkpoints of audit trail logs that were signed',
  }),
  forks: new Counter({
    name: 'cadastre_trail_log_forks_total',
    help: 'Audit trail logs that continue under another origin, because the database is older than what was published',
  }),
  witnessFailures: new Counter({
    name: 'cadastre_trail_witness_failures_total',
    help: 'Requests to witnesses of the log of the site that brought no cosignature',
    labelNames: ['witness'],
  }),
  timeStampFailures: new Counter({
    name: 'cadastre_trail_time_stamp_failures_total',
    help: 'Requests to the time stamp authority that brought no valid time stamp',
    labelNames: ['reason'],
  }),
  timeStampOverdue: new Gauge({
    name: 'cadastre_trail_time_stamp_overdue_seconds',
    help: 'Seconds since the next time stamp of the log of the site was due; 0 if none is due',
  }),
  unknownHistory: new Gauge({
    name: 'cadastre_trail_history_unknown',
    help: '1 while a source of published checkpoints has not answered since the start, so that a restore can be unnoticed',
    labelNames: ['source'],
  }),
  foreignMessages: new Counter({
    name: 'cadastre_trail_topic_foreign_messages_total',
    help: 'Messages in the topic of checkpoints that are no checkpoint which this site has signed',
  }),
  oldestUnsigned: new Gauge({
    name: 'cadastre_trail_oldest_unsigned_seconds',
    help: 'Age of the oldest entry of an audit trail that no checkpoint covers; 0 if there is none',
  }),
};
