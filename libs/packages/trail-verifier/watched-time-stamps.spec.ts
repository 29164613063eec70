import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTimeStampAuthority, type TestTimeStampAuthority } from '../../../test/support/time-stamp-authority.js';
import { createSampleLog, signSampleCheckpoint, writeSampleLog } from '../../../test/support/trail-log.js';
import { runVerifierProgram } from './program.js';
import { encodeTimeStampRequest } from './time-stamps/time-stamp-info.js';

const log = createSampleLog(300);
const fork = createSampleLog(300, { privateKey: log.privateKey, forkedAt: 50 });

let authority: TestTimeStampAuthority;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  authority = await startTimeStampAuthority();
});
afterAll(() => authority.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-watched-stamps-'));
  await writeSampleLog(log, at('log'), 200);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const stamp = (stamped: string): Promise<Buffer> =>
  authority.reply(
    encodeTimeStampRequest({ digest: hash('sha256', stamped, 'buffer'), nonce: Buffer.of(0x40), policy: null }),
  );

/** Lists a stamp as the newest one, with these files. Returns its id. */
const publish = async (note: string, response: Buffer, id = hash('sha256', note)): Promise<string> => {
  await mkdir(at(`log/time-stamps/${id}`), { recursive: true });
  await writeFile(at(`log/time-stamps/${id}/checkpoint`), note);
  await writeFile(at(`log/time-stamps/${id}/checkpoint.tsr`), response);
  await list(id);
  return id;
};

const list = (...ids: readonly string[]): Promise<void> =>
  writeFile(at('log/time-stamps?page%5Bsize%5D=1'), JSON.stringify({ data: ids.map((id) => ({ id })) }));

const watch = async (...more: readonly string[]) => {
  const [output, errors]: [string[], string[]] = [[], []];
  const options = ['--key', log.verifierKey, '--state', at('state'), '--time-stamp-ca', authority.caFile, '--once'];
  const code = await runVerifierProgram(['watch', at('log'), ...options, ...more], {
    print: (line) => void output.push(line),
    printError: (line) => void errors.push(line),
    stdin: (async function* () {})(),
    token: null,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
  });
  return { code, output: output.join('\n'), errors: errors.join('\n') };
};

const refused = (message: string, problem = 'time-stamp') => ({
  code: 1,
  errors: expect.stringMatching(new RegExp(`^NOT VERIFIED \\(${problem}\\): .*${message}`)) as unknown,
});

const readState = async () => JSON.parse(await readFile(at('state/time-stamps.json'), 'utf8')) as object;

const letDaysPass = async (days: number): Promise<void> => {
  const unstampedSince = Date.now() - days * 86_400_000;
  await writeFile(at('state/time-stamps.json'), JSON.stringify({ ...(await readState()), unstampedSince }));
};

describe('watch --time-stamp-ca', () => {
  it('verifies the newest time stamp once, and keeps it as openssl reads it', async () => {
    const note = await signSampleCheckpoint(log, 100);
    const id = await publish(note, await stamp(note));
    const first = await watch();
    expect(first).toMatchObject({ code: 0, errors: '' });
    expect(first.output).toMatch(/time stamp: stamps has stamped 100 entries at 20/);
    expect(await readState()).toMatchObject({ id, size: 100, unstampedSince: expect.any(Number) as unknown });
    const files = await readdir(at('state'));
    const [checkpoint = '', response = ''] = ['.stamped-checkpoint', '.tsr'].map(
      (end) => files.find((name) => name.endsWith(end)) ?? '',
    );
    const stampFiles = await Promise.all([readFile(at(`state/${checkpoint}`)), readFile(at(`state/${response}`))]);
    expect(await authority.verify(...stampFiles)).toBe('Verification: OK');
    expect((await watch()).output).not.toContain('time stamp');
    const newest = await signSampleCheckpoint(log, 200);
    await publish(newest, await stamp(newest));
    expect((await watch()).output).toContain('has stamped 200 entries');
    expect(await readState()).toMatchObject({ size: 200, unstampedSince: null });
  });

  it('accepts a stamp of a checkpoint that was signed after the one that was read', async () => {
    const note = await signSampleCheckpoint(log, 300);
    await publish(note, await stamp(note));
    const checkpoint = await readFile(at('log/checkpoint'));
    await writeSampleLog(log, at('log'), 300);
    await writeFile(at('log/checkpoint'), checkpoint);
    expect(await watch()).toMatchObject({ code: 0, errors: '' });
    expect(await readState()).toMatchObject({ size: 300, unstampedSince: null });
  });

  it.each<[string, (note: string) => Promise<unknown>, string, string?]>([
    ['for other bytes', async (note) => publish(note, await stamp('other')), 'the time stamp is for other bytes'],
    [
      'of another authority',
      async (note) => publish(note, await authority.signAs(await stamp(note), 'foreign')),
      'certificate',
    ],
    ['that is no answer', (note) => publish(note, Buffer.from('stamp')), 'is no time stamp'],
    [
      'whose checkpoint was exchanged',
      async (note) => publish(await signSampleCheckpoint(log, 101), await stamp(note), hash('sha256', note)),
      'is not the one with the SHA-256',
    ],
    [
      'of another history',
      async () => {
        const note = await signSampleCheckpoint(fork, 100);
        return publish(note, await stamp(note));
      },
      'two histories were signed',
      'split-view',
    ],
    [
      'of a checkpoint that the log has not signed',
      async () => {
        const note = await signSampleCheckpoint(createSampleLog(100), 100);
        return publish(note, await stamp(note));
      },
      'no given key of it has signed|no given key has signed',
      'signature',
    ],
    ['with an id that is a path', () => list('../../etc'), 'no SHA-256'],
    ['in a list that is none', () => writeFile(at('log/time-stamps?page%5Bsize%5D=1'), '{}'), 'is no list'],
  ])('raises an alarm at a stamp %s', async (_, change, message, problem) => {
    await change(await signSampleCheckpoint(log, 100));
    expect(await watch()).toMatchObject(refused(message, problem));
    expect((await readdir(at('state'))).filter((name) => name.startsWith('alarm-'))).toHaveLength(1);
  });

  it('raises an alarm if stamps are taken away', async () => {
    const note = await signSampleCheckpoint(log, 100);
    await publish(note, await stamp(note));
    expect(await watch()).toMatchObject({ code: 0 });
    const earlier = await signSampleCheckpoint(log, 99);
    await publish(earlier, await stamp(earlier));
    expect(await watch()).toMatchObject(refused('covers 99 entries, and an earlier one covered 100'));
    await list();
    expect(await watch()).toMatchObject(refused('lists no time stamps any more'));
  });

  it('raises an alarm if entries have no stamp for too long', async () => {
    expect(await watch()).toMatchObject({ code: 0 });
    await letDaysPass(1);
    expect(await watch()).toMatchObject({ code: 0 });
    expect(await watch('--stamped-within', '12h')).toMatchObject(refused('the log has no time stamp since'));
    await letDaysPass(3);
    expect(await watch()).toMatchObject(refused('the log has no time stamp since'));
    // A log without new entries needs no other stamp.
    const newest = await signSampleCheckpoint(log, 200);
    await publish(newest, await stamp(newest));
    expect(await watch()).toMatchObject({ code: 0 });
    expect(await watch()).toMatchObject({ code: 0 });
    expect(await readState()).toMatchObject({ unstampedSince: null });
  });

  it('raises an alarm if stamps follow the log at a distance', async () => {
    const stampSize = async (size: number): Promise<void> => {
      const note = await signSampleCheckpoint(log, size);
      await publish(note, await stamp(note));
    };
    await stampSize(100);
    expect(await watch()).toMatchObject({ code: 0 });
    expect(await readState()).toMatchObject({ unstampedSize: 200 });
    await letDaysPass(1);
    await stampSize(150);
    expect(await watch()).toMatchObject({ code: 0 });
    await letDaysPass(3);
    await stampSize(199);
    expect(await watch()).toMatchObject(refused('no time stamp covers entry 199'));
    // The entries that the log had when the lag began are stamped, so another time begins for those after them.
    await writeSampleLog(log, at('log'), 300);
    await stampSize(200);
    expect(await watch()).toMatchObject({ code: 0 });
    expect(await readState()).toMatchObject({ size: 200, unstampedSize: 300 });
    await letDaysPass(3);
    expect(await watch()).toMatchObject(refused('no time stamp covers entry 200'));
  });

  it('refuses a file without certificates, and a time without a file', async () => {
    await writeFile(at('empty.pem'), 'none');
    expect(await watch('--time-stamp-ca', at('empty.pem'))).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--time-stamp-ca: must be a file with certificates (PEM)') as unknown,
    });
    const options = ['--key', log.verifierKey, '--state', at('state'), '--stamped-within', '1d'];
    const errors: string[] = [];
    const code = await runVerifierProgram(['watch', at('log'), ...options], {
      print: () => undefined,
      printError: (line) => void errors.push(line),
      stdin: (async function* () {})(),
      token: null,
      signal: new AbortController().signal,
      sleep: () => Promise.resolve(),
    });
    expect([code, errors]).toEqual([2, ['--stamped-within: needs --time-stamp-ca']]);
  });
});
