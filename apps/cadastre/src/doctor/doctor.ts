import {
  readFollowerStates,
  listDifferentVersions,
  inspectDatabase,
  isAheadOfCluster,
  OLDEST_POSTGRES,
  type DatabaseState,
} from '#storage/event-store';
import { inspectMachine } from '#platform/host';
import { parseSettings, listSettingWarnings, type EnvironmentValues, type Settings } from '#platform/settings';
import { inspectConnections } from '#platform/postgres';
import { getErrorMessage } from '#platform/kernel';
import { describeDatabaseError } from '../../../database-errors.js';
import { describeWrongKey, hasEmbeddedSite, MISSING_PREVIOUS_KEY } from '../../../database-resources.js';
import { openRuntime, type Runtime } from '../../../runtime.js';
import { compareSiteTopics, listPublishers } from '../../../kafka-topics.js';
import { createFollowers, moduleDefinitions, views } from '../../../modules.js';
import { describeFailure } from '../start-errors.js';
import { reportFailed, reportOk, reportWarning, type Finding } from './findings.js';
import { inspectKeyWrapper } from './key-findings.js';
import { inspectCertificate, inspectDisks } from './machine-findings.js';
import { inspectTimeStampAuthority } from './time-stamp-findings.js';

const MAX_SKEW_MS = 5_000;
const FAR_BEHIND = 1_000;

/** Runs every check that the settings allow, and reports each finding as soon as it is known. */
export const runDoctorChecks = async (
  env: EnvironmentValues,
  now: () => Date,
  report: (finding: Finding) => void,
): Promise<void> => {
  const { settings, lines, invalid } = parseSettings(env);
  const problems = [...lines, ...(await inspectMachine(settings, 'command', invalid, now()))];
  for (const line of problems) report(reportFailed('settings', line));
  for (const line of listSettingWarnings(env, settings, 'serve')) report(reportWarning('settings', line));
  if (problems.length > 0) return report(reportFailed('others', 'not checked; correct the settings first'));
  report(reportOk('settings', 'all valid'));
  for (const finding of await inspectDisks(settings)) report(finding);
  report(await inspectCertificate(settings, now()));
  const stamping = await inspectTimeStampAuthority(settings, now);
  if (stamping) report(stamping);
  const wrapping = await inspectKeyWrapper(settings);
  if (wrapping) report(wrapping);
  if (wrapping?.result === 'FAILED') return report(reportFailed('others', 'not checked; they need the encryption key'));
  const runtime = await openDatabase(settings, report);
  if (!runtime) return;
  try {
    await examineRuntime(runtime, now, report);
  } finally {
    await runtime.close();
  }
};

const openDatabase = async (settings: Settings, report: (finding: Finding) => void): Promise<Runtime | null> => {
  if (settings.database.mode === 'embedded' && !(await hasEmbeddedSite(settings))) {
    report(
      reportFailed(
        'database',
        `there is no site in ${settings.dataFolder}; start the server, or correct CADASTRE_DATA`,
      ),
    );
    return null;
  }
  try {
    return await openRuntime({ ...settings, logLevel: 'silent' }, { name: 'doctor', beside: true });
  } catch (error) {
    report(reportFailed('database', describeFailure(error)));
    return null;
  }
};

const examineRuntime = async (runtime: Runtime, now: () => Date, report: (finding: Finding) => void): Promise<void> => {
  const { settings, databaseUrl, encryptionKeys } = runtime;
  report(await inspectFiles(runtime));
  if (settings.kafka) report(await inspectKafka(runtime));
  const before = now();
  let state: DatabaseState;
  try {
    await inspectConnections(runtime.store.database);
    state = await inspectDatabase(databaseUrl, moduleDefinitions, encryptionKeys);
  } catch (error) {
    return report(reportFailed('database', describeDatabaseError(error, settings)));
  }
  report(reportOk('connections', 'Postgres gets the parameters that Cadastre sets for each connection'));
  for (const finding of describeDatabase(state, settings)) report(finding);
  report(describeClock(state.clock, before, now()));
  if (!state.hasSite || state.pending.length > 0 || state.foreign) return;
  if (await isAheadOfCluster(runtime.store.database)) {
    report(
      reportFailed(
        'database',
        'the log is ahead of this cluster; run deploy/after-restore.sql (docs/how-to/operate.md)',
      ),
    );
  }
  for (const finding of await inspectViews(runtime)) report(finding);
  for (const finding of await inspectFollowers(runtime)) report(finding);
};

const inspectViews = async ({ store }: Runtime): Promise<readonly Finding[]> => {
  const states = await listDifferentVersions(store.database, views);
  if (states.length === 0) return [reportOk('views', 'all are of the current version')];
  return states.map(({ view: { name, version }, stored, lowestWritten }) => {
    const check = `view ${name}`;
    if (stored > version) return reportWarning(check, 'a later version of Cadastre rebuilt it; start that version');
    return lowestWritten !== null && lowestWritten < version
      ? reportWarning(check, `version ${stored} of ${version}; stop the processes of the earlier version of Cadastre`)
      : reportWarning(check, `version ${stored} of ${version}; serve or projector rebuilds it while it runs`);
  });
};

const describeDatabase = (state: DatabaseState, settings: Settings): readonly Finding[] => {
  const { version, key } = state;
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRES) {
    return [reportFailed('database', `Postgres ${major}; upgrade the server to ${OLDEST_POSTGRES} or later`)];
  }
  const server = major < 18 ? reportWarning : reportOk;
  const untested = major < 18 ? '; Cadastre is tested with 18, plan an upgrade' : '';
  return [
    server('database', `Postgres ${major} answers${untested}`),
    ...describeTables(state),
    describeKey(key, settings),
  ];
};

const describeKey = (key: DatabaseState['key'], settings: Settings): Finding => {
  if (key === null) return reportFailed('key', describeWrongKey(settings));
  if (key === 'previous missing') return reportFailed('key', MISSING_PREVIOUS_KEY);
  if (key.undecryptable > 0) {
    return reportWarning('key', `${key.undecryptable} values were encrypted with another key; run cadastre verify`);
  }
  if (key.isRotating) return reportWarning('key', 'values have the previous key; run cadastre keys rotate');
  return reportOk('key', key.isRecorded ? 'the database is encrypted with this key' : 'not recorded yet');
};

const describeTables = ({ hasSite, missingExtensions, ...migrations }: DatabaseState): readonly Finding[] => {
  if (!hasSite)
    return [reportFailed('migrations', 'the database contains no site; start the server, or run cadastre migrate')];
  return [
    missingExtensions.length === 0
      ? reportOk('extensions', 'pg_trgm and btree_gin are installed')
      : reportFailed(
          'extensions',
          `let an administrator run: create extension ${missingExtensions.join('; create extension ')}`,
        ),
    describeMigrations(migrations),
  ];
};

const describeMigrations = ({ pending, foreign }: Pick<DatabaseState, 'pending' | 'foreign'>): Finding => {
  if (foreign) return reportFailed('migrations', foreign.message);
  return pending.length === 0
    ? reportOk('migrations', 'the tables are up to date')
    : reportFailed(
        'migrations',
        `${pending.length} migrations have not run; start the server, or run cadastre migrate`,
      );
};

const describeClock = (database: Date, before: Date, after: Date): Finding => {
  const middle = (before.getTime() + after.getTime()) / 2;
  const uncertainty = (after.getTime() - before.getTime()) / 2;
  const skew = Math.max(0, Math.abs(database.getTime() - middle) - uncertainty);
  const seconds = (skew / 1_000).toFixed(1);
  return skew > MAX_SKEW_MS
    ? reportFailed('clock', `differs by ${seconds} s from the database's; run a time service (NTP) on both machines`)
    : reportOk('clock', `differs by at most ${seconds} s from the database's`);
};

const inspectFollowers = async (runtime: Runtime): Promise<readonly Finding[]> => {
  const publishers = listPublishers(runtime.settings);
  const followers = [...createFollowers(runtime), ...publishers];
  return (await readFollowerStates(runtime.store.database, followers)).map(({ name, isLed, behind, idleSeconds }) => {
    const check = `follower ${name}`;
    const progress = idleSeconds === null ? 'no progress yet' : `last progress ${idleSeconds} s ago`;
    if (!isLed) {
      const process = publishers.some((publisher) => publisher.name === name)
        ? 'serve or publisher'
        : 'serve or projector';
      return reportFailed(check, `no process runs it, ${behind} events behind; start ${process}`);
    }
    return behind > FAR_BEHIND
      ? reportWarning(
          check,
          `runs, at least ${behind} events behind, ${progress}; look for "follower failed" in its log`,
        )
      : reportOk(check, `runs, ${behind} events behind`);
  });
};

const inspectFiles = async ({ settings, blobs }: Runtime): Promise<Finding> => {
  try {
    await blobs.inspect();
    return reportOk(
      'files',
      settings.s3 ? `the bucket ${settings.s3.bucket} can be used` : `${settings.blobsFolder} can be written to`,
    );
  } catch (error) {
    return reportFailed(
      'files',
      `the bucket cannot be used (${getErrorMessage(error)}); correct CADASTRE_S3_… or its permissions`,
    );
  }
};

const inspectKafka = async ({ settings, logger }: Runtime): Promise<Finding> => {
  try {
    const differences = await compareSiteTopics(settings, logger);
    const missing = differences.filter(({ action }) => action === 'create').map(({ topic }) => topic);
    if (missing.length > 0) {
      const topics = missing.join(', ');
      return reportWarning('kafka', `can be reached; the publisher creates these topics when it starts: ${topics}`);
    }
    const differing = [...new Set(differences.map(({ topic }) => topic))].join(', ');
    return differing === ''
      ? reportOk('kafka', 'can be reached, and all topics agree with the settings')
      : reportWarning('kafka', `these topics differ from the settings; run cadastre topics plan: ${differing}`);
  } catch (error) {
    return reportFailed('kafka', `cannot be reached (${getErrorMessage(error)}); start it, or correct KAFKA_BROKERS`);
  }
};
