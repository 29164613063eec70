import { join } from 'node:path';
import { output } from './programs.js';

const SCRIPT = join(import.meta.dirname, 'wrk.lua');
let runs = 0;

/**
 * One run of wrk: requests, seconds, p50 and p99 in ms, responses with an unexpected status (`refused`), and requests
 * without a response (`failed`). `lines` is a file with a path or an id in each line, and `ids` one with ids; `count` is
 * the number of ids that writes in turns can use.
 */
export const wrk = async ({
  url,
  token,
  mode,
  connections,
  seconds,
  lines,
  ids,
  count,
  organization,
  project = '',
}) => {
  runs += 1;
  const env = {
    MODE: mode,
    TOKEN: token,
    LINES: lines,
    IDS: ids ?? lines,
    ORGANIZATION: organization,
    PROJECT: project,
    RUN: `${Date.now().toString(36)}-${runs}`,
    GAP: String(Math.min(8 * connections + 16, count >> 1)),
  };
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT, url];
  const text = await output('wrk', args, env);
  const result = /^RESULT (.*)$/m.exec(text)?.[1];
  if (!result) throw new Error(`wrk printed no result:\n${text}`);
  return JSON.parse(result);
};
