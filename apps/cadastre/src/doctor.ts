import { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { followerStates, inspectDatabase, isAheadOfCluster, OLDEST_POSTGRES, type DatabaseState } from '#event-store';
import { FACTS_TOPIC } from '#facts';
import {
  contentOf,
  inspectMachine,
  parseSettings,
  settingWarnings,
  type EnvironmentValues,
  type Settings,
} from '#host';
import { describeDatabaseError } from '../../database-errors.js';
import { describeWrongKey, hasEmbeddedSite } from '../../foundation.js';
import { openHouse, type House } from '../../house.js';
import { kafkaTopics } from '../../kafka-topics.js';
import { registry, slices, sweepers } from '../../slices.js';
import { describeFailure } from './start-errors.js';

type Result = 'ok' | 'warning' | 'FAILED';

/** One line of the report; `detail` says what to do unless the result is ok. */
export type Finding = { readonly result: Result; readonly check: string; readonly detail: string };

const ok = (check: string, detail: string): Finding => ({ result: 'ok', check, detail });
const warning = (check: string, detail: string): Finding => ({ result: 'warning', check, detail });
const failed = (check: string, detail: string): Finding => ({ result: 'FAILED', check, detail });

const MOST_SKEW_MS = 5_000;
const LEAST_FREE_BYTES = 1_024 ** 3;
const RENEW_WITHIN_DAYS = 21;
const DAY_MS = 24 * 60 * 60 * 1_000;
const FAR_BEHIND = 1_000;

/** Runs every check that the settings allow, and reports each finding as soon as it is known. */
export const examine = async (
  env: EnvironmentValues,
  now: () => Date,
  report: (finding: Finding) => void,
): Promise<void> => {
  const { settings, lines, invalid } = parseSettings(env);
  const problems = [...lines, ...(await inspectMachine(settings, 'command', invalid, now()))];
  for (const line of problems) report(failed('settings', line));
  for (const line of settingWarnings(env, settings, 'serve')) report(warning('settings', line));
  if (problems.length > 0) return report(failed('others', 'not checked; correct the settings first'));
  report(ok('settings', 'all valid'));
  for (const finding of await inspectDisks(settings)) report(finding);
  report(await inspectCertificate(settings, now()));
  const house = await openDatabase(settings, report);
  if (!house) return;
  try {
    await examineHouse(house, now, report);
  } finally {
    await house.close();
  }
};

const openDatabase = async (settings: Settings, report: (finding: Finding) => void): Promise<House | null> => {
  if (settings.database.mode === 'embedded' && !(await hasEmbeddedSite(settings))) {
    report(
      failed('database', `there is no site in ${settings.dataFolder}; start the server, or correct CADASTRE_DATA`),
    );
    return null;
  }
  try {
    return await openHouse({ ...settings, logLevel: 'silent' }, { name: 'doctor', beside: true });
  } catch (error) {
    report(failed('database', describeFailure(error)));
    return null;
  }
};

const examineHouse = async (house: House, now: () => Date, report: (finding: Finding) => void): Promise<void> => {
  const { settings, databaseUrl, encryptionKey } = house;
  report(await inspectFiles(house));
  if (settings.kafka) report(await inspectKafka(house));
  const before = now();
  let state: DatabaseState;
  try {
    state = await inspectDatabase(databaseUrl, slices, encryptionKey);
  } catch (error) {
    return report(failed('database', describeDatabaseError(error, settings)));
  }
  for (const finding of describeDatabase(state, settings)) report(finding);
  report(describeClock(state.clock, before, now()));
  if (!state.hasSite || state.pending.length > 0 || state.foreign) return;
  if (await isAheadOfCluster(house.store.database)) {
    report(
      failed('database', 'the log is ahead of this cluster; run deploy/after-restore.sql (docs/how-to/operations.md)'),
    );
  }
  for (const finding of await inspectFollowers(house)) report(finding);
};

const describeDatabase = (state: DatabaseState, settings: Settings): readonly Finding[] => {
  const { version, key } = state;
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRES) {
    return [failed('database', `Postgres ${major}; upgrade the server to ${OLDEST_POSTGRES} or later`)];
  }
  const server = major < 18 ? warning : ok;
  const untested = major < 18 ? '; Cadastre is tested with 18, plan an upgrade' : '';
  return [
    server('database', `Postgres ${major} answers${untested}`),
    ...describeTables(state),
    key === null
      ? failed('key', describeWrongKey(settings))
      : key.undecryptable > 0
        ? warning('key', `${key.undecryptable} values were encrypted with another key; run cadastre verify`)
        : ok('key', key.isRecorded ? 'is the one that the database is encrypted with' : 'not recorded yet'),
  ];
};

const describeTables = ({ hasSite, missingExtensions, ...migrations }: DatabaseState): readonly Finding[] => {
  if (!hasSite) return [failed('migrations', 'the database holds no site; start the server, or run cadastre migrate')];
  return [
    missingExtensions.length === 0
      ? ok('extensions', 'pg_trgm and btree_gin are there')
      : failed(
          'extensions',
          `let an administrator run: create extension ${missingExtensions.join('; create extension ')}`,
        ),
    describeMigrations(migrations),
  ];
};

const describeMigrations = ({ pending, foreign }: Pick<DatabaseState, 'pending' | 'foreign'>): Finding => {
  if (foreign) return failed('migrations', foreign.message);
  return pending.length === 0
    ? ok('migrations', 'the tables are up to date')
    : failed('migrations', `${pending.length} have not run; start the server, or run cadastre migrate`);
};

const describeClock = (database: Date, before: Date, after: Date): Finding => {
  const middle = (before.getTime() + after.getTime()) / 2;
  const uncertainty = (after.getTime() - before.getTime()) / 2;
  const skew = Math.max(0, Math.abs(database.getTime() - middle) - uncertainty);
  const seconds = (skew / 1_000).toFixed(1);
  return skew > MOST_SKEW_MS
    ? failed('clock', `${seconds} s apart from the database's; run a time service (NTP) on both machines`)
    : ok('clock', `at most ${seconds} s apart from the database's`);
};

const inspectFollowers = async ({ store, blobs, settings }: House): Promise<readonly Finding[]> => {
  const publisher = settings.kafka ? [{ name: 'publisher' }] : [];
  const followers = [...slices.flatMap((slice) => slice.followers), ...sweepers(blobs), ...publisher];
  return (await followerStates(store.database, followers)).map(({ name, isLed, behind, idleSeconds }) => {
    const check = `follower ${name}`;
    const moved = idleSeconds === null ? 'it never moved' : `it last moved ${idleSeconds} s ago`;
    if (!isLed) {
      const process = name === 'publisher' ? 'serve or publisher' : 'serve or projector';
      return failed(check, `no process runs it, ${behind} events behind; start ${process}`);
    }
    return behind > FAR_BEHIND
      ? warning(check, `runs, at least ${behind} events behind, ${moved}; look for "follower failed" in its log`)
      : ok(check, `runs, ${behind} events behind`);
  });
};

const inspectFiles = async ({ settings, blobs }: House): Promise<Finding> => {
  try {
    await blobs.inspect();
    return ok(
      'files',
      settings.s3 ? `the bucket ${settings.s3.bucket} can be used` : `${settings.blobsFolder} can be written to`,
    );
  } catch (error) {
    return failed('files', `the bucket cannot be used (${describeReason(error)}); correct CADASTRE_S3_… or its rights`);
  }
};

const inspectKafka = async ({ settings, logger }: House): Promise<Finding> => {
  try {
    const { existing, expected } = await kafkaTopics(settings, registry, FACTS_TOPIC, logger);
    const missing = expected.filter((topic) => !existing.has(topic));
    return missing.length === 0
      ? ok('kafka', `answers, all ${expected.length} topics are there`)
      : warning('kafka', `answers; the publisher creates these topics when it starts: ${missing.join(', ')}`);
  } catch (error) {
    return failed('kafka', `cannot be reached (${describeReason(error)}); start it, or correct KAFKA_BROKERS`);
  }
};

const inspectDisks = async ({ dataFolder, blobsFolder, s3 }: Settings): Promise<readonly Finding[]> => {
  const folders = [...new Set([dataFolder, ...(s3 === null ? [blobsFolder] : [])])];
  return Promise.all(folders.map(inspectDisk));
};

const inspectDisk = async (folder: string): Promise<Finding> => {
  const { bavail, bsize } = await statfsOfNearest(folder);
  const free = bavail * bsize;
  const shown = `${(free / LEAST_FREE_BYTES).toFixed(1)} GiB free for ${folder}`;
  return free < LEAST_FREE_BYTES ? failed('disk', `${shown}; free space, or use another disk`) : ok('disk', shown);
};

const statfsOfNearest = async (folder: string): Promise<{ readonly bavail: number; readonly bsize: number }> => {
  try {
    return await statfs(folder);
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return statfsOfNearest(dirname(folder));
  }
};

const inspectCertificate = async ({ tls, dataFolder }: Settings, now: Date): Promise<Finding> => {
  if (tls.mode === 'off') return ok('certificate', 'none, TLS is off');
  const file = tls.mode === 'files' ? tls.cert : join(dataFolder, 'tls', 'server.pem');
  const pem = await contentOf(file);
  if (pem === null) return ok('certificate', 'the server creates one when it starts');
  const ends = new X509Certificate(pem).validToDate;
  const days = Math.floor((ends.getTime() - now.getTime()) / DAY_MS);
  const shown = `${file} is valid for ${days} more days`;
  if (days >= RENEW_WITHIN_DAYS) return ok('certificate', shown);
  const remedy = tls.mode === 'files' ? 'renew it and restart' : 'restart the server, which renews it';
  return days < 0
    ? failed('certificate', `${file} has expired; ${remedy}`)
    : warning('certificate', `${shown}; ${remedy}`);
};

const describeReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
