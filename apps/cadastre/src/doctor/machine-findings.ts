import { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFileOrNull } from '#platform/host';
import type { Settings } from '#platform/settings';
import { reportFailed, reportOk, reportWarning, type Finding } from './findings.js';

const MIN_FREE_BYTES = 1_024 ** 3;
const RENEW_WITHIN_DAYS = 21;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Reports the free space of each folder in which the site keeps files. */
export const inspectDisks = async ({ dataFolder, blobsFolder, s3 }: Settings): Promise<readonly Finding[]> => {
  const folders = [...new Set([dataFolder, ...(s3 === null ? [blobsFolder] : [])])];
  return Promise.all(folders.map(inspectDisk));
};

const inspectDisk = async (folder: string): Promise<Finding> => {
  const { bavail, bsize } = await readNearestStatfs(folder);
  const free = bavail * bsize;
  const summary = `${(free / MIN_FREE_BYTES).toFixed(1)} GiB free for ${folder}`;
  return free < MIN_FREE_BYTES
    ? reportFailed('disk', `${summary}; free space, or use another disk`)
    : reportOk('disk', summary);
};

const readNearestStatfs = async (folder: string): Promise<{ readonly bavail: number; readonly bsize: number }> => {
  try {
    return await statfs(folder);
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return readNearestStatfs(dirname(folder));
  }
};

/** Reports how long the certificate of the server is valid. */
export const inspectCertificate = async ({ tls, dataFolder }: Settings, now: Date): Promise<Finding> => {
  if (tls.mode === 'off') return reportOk('certificate', 'none, TLS is off');
  const file = tls.mode === 'files' ? tls.cert : join(dataFolder, 'tls', 'server.pem');
  const pem = await readFileOrNull(file);
  if (pem === null) return reportOk('certificate', 'the server creates one when it starts');
  const ends = new X509Certificate(pem).validToDate;
  const days = Math.floor((ends.getTime() - now.getTime()) / DAY_MS);
  const summary = `${file} is valid for ${days} more days`;
  if (days >= RENEW_WITHIN_DAYS) return reportOk('certificate', summary);
  const remedy = tls.mode === 'files' ? 'renew it and restart' : 'restart the server, which renews it';
  return days < 0
    ? reportFailed('certificate', `${file} has expired; ${remedy}`)
    : reportWarning('certificate', `${summary}; ${remedy}`);
};
