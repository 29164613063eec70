import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RefusedRequestError } from '../api/server-connection.js';
import { RunLog } from '../phases/run-log.js';
import { LogUpload, type AppendLog } from './log-upload.js';
import { SecretMasker } from './secret-masker.js';
import { waitUntil } from '../../../../test/support/product.js';
import { countRounds } from '../../../../test/support/rounds.js';

const MIB = 1024 * 1024;

/** More than a log keeps on the disk. `npm run soak` writes a gigabyte. */
const WRITTEN_MIB = Math.min(countRounds(300), 1024);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-log-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes that are in use. The size of the process also grows with garbage that a busy machine collects late. */
const measureMemory = (): number => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** A server that accepts parts as Cadastre does. */
const createServer = () => {
  let stored = Buffer.alloc(0);
  const append: AppendLog = (offset, output) => {
    const isKnown = stored.subarray(offset, offset + output.length).equals(output.subarray(0, stored.length - offset));
    if (offset > stored.length || !isKnown)
      return Promise.reject(new RefusedRequestError(409, 'bytes are missing', stored.length));
    stored = Buffer.concat([stored.subarray(0, offset), output]);
    return Promise.resolve({ offset: stored.length, truncated: false });
  };
  return { append, text: () => stored.toString(), lose: (bytes: number) => void (stored = stored.subarray(0, bytes)) };
};

it('sends everything that was written before the end', async () => {
  const server = createServer();
  const log = await LogUpload.open(join(folder, 'log'), server.append);
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of the output of a plan\n`);
  for (const line of lines) log.write(line);
  await log.end();
  expect(server.text()).toBe(lines.join(''));
});

it('continues at the offset that the server names', async () => {
  const server = createServer();
  let appends = 0;
  const log = await LogUpload.open(join(folder, 'log'), (offset, output) => {
    appends += 1;
    // The server has lost what it had not stored yet.
    if (appends === 2) server.lose(3);
    return server.append(offset, output);
  });
  log.write('a'.repeat(600_000));
  log.write('the end');
  await log.end();
  expect(server.text()).toBe(`${'a'.repeat(600_000)}the end`);
});

it('stops sending when the server has cut the log', async () => {
  let sent = 0;
  const log = await LogUpload.open(join(folder, 'log'), (offset, output) => {
    sent += output.length;
    return Promise.resolve({ offset: offset + output.length, truncated: true });
  });
  log.write('a'.repeat(2_000_000));
  await log.end();
  expect(sent).toBeLessThan(1_000_000);
});

it('keeps no more on the disk than its limit, and says so', async () => {
  const server = createServer();
  const log = await LogUpload.open(join(folder, 'log'), server.append, 20);
  for (const line of ['first line\n', 'a line that is too long\n', 'another one\n']) log.write(line);
  await log.end();
  expect(server.text()).toBe('first line\n\nThe log is cut here, because it has more than 20 bytes.\n');
});

it('rejects at the end if the server refuses a part', async () => {
  const log = await LogUpload.open(join(folder, 'log'), () =>
    Promise.reject(new RefusedRequestError(409, 'the lease has ended', null)),
  );
  log.write('output');
  await expect(log.end()).rejects.toThrow('the lease has ended');
});

it('needs little memory for a log of any size, while the server does not answer', async () => {
  const answer = Promise.withResolvers<void>();
  const upload = await LogUpload.open(join(folder, 'log'), async (offset, output) => {
    await answer.promise;
    return { offset: offset + output.length, truncated: true };
  });
  const log = new RunLog(upload, new SecretMasker(['swordfish']), false, () => new Date());
  const sink = log.createSink();
  const line = Buffer.from(`${'a line of a provisioner '.repeat(10)}\n`);
  const before = measureMemory();
  // At most 7 MiB were in use, for 300 MiB and for 1 GiB. A gigabyte took 4.4 s of CPU.
  for (let sent = 0; sent < WRITTEN_MIB * MIB; sent += line.length) {
    await sink.push(line);
    // V8 frees the memory of buffers on another thread, which may be late.
    if (sent % (50 * MIB) < line.length)
      await waitUntil(() => measureMemory() - before < 16 * MIB, 'the memory of written output is free');
  }
  sink.end();
  answer.resolve();
  await log.end();
  const { size } = await stat(join(folder, 'log'));
  expect(size).toBeLessThan(257 * MIB);
});
