import { VERSION } from '#platform/host';
import type { Settings } from '#platform/settings';
import type { SiteFacts, SiteSetting } from '#operations/site';
import { listPublishers } from '../../kafka-topics.js';
import { createFollowers, createScheduledJobs } from '../../modules.js';
import type { Runtime } from '../../runtime.js';

const formatYes = (isOn: boolean): string => (isOn ? 'on' : 'off');

const formatLimit = (limit: number | null): string => (limit === null ? 'no limit' : String(limit));

/** Lists settings that an administrator asks for most. It names every setting, so that a secret is never in it. */
const listSiteSettings = (settings: Settings): readonly SiteSetting[] => [
  ...listServiceSettings(settings),
  ...listLimitSettings(settings),
];

const listServiceSettings = ({
  edition,
  featureSet,
  publicUrl,
  kafka,
  s3,
  blobsFolder,
  tokenLifetime,
}: Settings): readonly SiteSetting[] => [
  { name: 'CADASTRE_PUBLIC_URL', value: publicUrl },
  { name: 'CADASTRE_EDITION', value: edition },
  { name: 'CADASTRE_FEATURE_SET', value: featureSet },
  { name: 'KAFKA_BROKERS', value: kafka === null ? 'not set: nothing is published' : kafka.brokers.join(', ') },
  ...(kafka === null ? [] : [{ name: 'CADASTRE_TOPIC_PREFIX', value: kafka.topicPrefix }]),
  s3 === null ? { name: 'CADASTRE_BLOBS', value: blobsFolder } : { name: 'CADASTRE_S3_BUCKET', value: s3.bucket },
  {
    name: 'CADASTRE_TOKEN_LIFETIME',
    value: tokenLifetime === null ? 'tokens do not expire' : `${tokenLifetime.years} years, ${tokenLifetime.days} days`,
  },
];

const listLimitSettings = ({
  sessions,
  oidc,
  smtp,
  globalRemoteState,
  auditClientDetails,
  requiresTwoFactor,
  retentionCheckMs,
  softDeletedDays,
  recoverableDays,
  limits,
  requestLog,
  tracing,
  logLevel,
}: Settings): readonly SiteSetting[] => [
  { name: 'CADASTRE_SESSION_IDLE_MINUTES', value: String(sessions.idleMinutes) },
  { name: 'CADASTRE_SESSION_HOURS', value: String(sessions.hours) },
  { name: 'CADASTRE_REQUIRE_TWO_FACTOR', value: formatYes(requiresTwoFactor) },
  { name: 'CADASTRE_OIDC_ISSUER', value: oidc === null ? 'not set' : oidc.issuer },
  { name: 'CADASTRE_SMTP_URL', value: smtp === null ? 'not set: no e-mail is sent' : 'set' },
  { name: 'CADASTRE_GLOBAL_REMOTE_STATE', value: formatYes(globalRemoteState) },
  { name: 'CADASTRE_AUDIT_CLIENT_DETAILS', value: formatYes(auditClientDetails) },
  { name: 'CADASTRE_RETENTION_CHECK_MINUTES', value: String(retentionCheckMs / 60_000) },
  { name: 'CADASTRE_SOFT_DELETED_DAYS', value: String(softDeletedDays) },
  { name: 'CADASTRE_RECOVERABLE_DAYS', value: String(recoverableDays) },
  { name: 'CADASTRE_RATE_LIMIT', value: formatLimit(limits.perToken) },
  { name: 'CADASTRE_ADDRESS_RATE_LIMIT', value: formatLimit(limits.perAddress) },
  { name: 'CADASTRE_REQUEST_LOG', value: formatYes(requestLog) },
  { name: 'LOG_LEVEL', value: logLevel },
  { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: tracing === null ? 'not set: no traces' : 'set' },
];

/** Returns what the gateway describes to administrators of the site. */
export const collectSiteFacts = (runtime: Runtime): SiteFacts => {
  const { settings } = runtime;
  return {
    version: VERSION,
    settings: listSiteSettings(settings),
    followers: [...createFollowers(runtime), ...listPublishers(settings)],
    jobs: createScheduledJobs(runtime, settings).map(({ name, everyMs }) => ({ name, everyMs })),
  };
};
