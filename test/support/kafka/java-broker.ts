import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './free-ports.js';
import { serverProperties } from './server-properties.js';
import type { TestKafka } from './start-kafka.js';
import { untilItAnswers } from './until-it-answers.js';

const run = promisify(execFile);

const HERE = import.meta.dirname;
const VERSION = '4.3.1';
/** The jars (44 MB, from the pom beside this file) and an empty, formatted log folder; git-ignored. */
const CACHE = join(HERE, '../../../.cache', `kafka-${VERSION}`);

export const jarsAreHere = (): boolean => existsSync(CACHE);

export const startOnJava = async (): Promise<TestKafka> => {
  if (!jarsAreHere()) await fillCache();
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-kafka-'));
  await cp(join(CACHE, 'template'), join(folder, 'log'), { recursive: true });
  const [port, controllerPort] = await freePorts();
  const properties = join(folder, 'server.properties');
  await writeFile(properties, serverProperties({ port, controllerPort, folder: join(folder, 'log') }));
  const brokers = [`127.0.0.1:${port}`];

  let broker = await launch(folder, properties);
  const kill = (): Promise<void> => broker.kill();
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  const answer = async (): Promise<void> => {
    try {
      await untilItAnswers(brokers, () => broker.failure());
    } catch (error) {
      await stop();
      throw error;
    }
  };
  await answer();
  return {
    brokers,
    kill,
    restart: async () => {
      broker = await launch(folder, properties);
      await answer();
    },
    stop,
  };
};

type Launched = { kill(): Promise<void>; failure(): string | null };

/**
 * The shell between us and Java ends Java with SIGKILL when its standard input closes: by `kill`, and also when the test
 * worker dies in whatever way, so that no broker is left behind.
 */
const KEEPER = `
exec 3<&0
"$@" </dev/null 3<&- &
java=$!
{ cat <&3 >/dev/null; kill -9 $java 2>/dev/null; } &
wait $java
`;

const launch = async (folder: string, properties: string): Promise<Launched> => {
  const output = join(folder, 'output.txt');
  const file = await open(output, 'w');
  const heap = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const java = ['java', ...heap, '-cp', join(CACHE, 'lib/*'), 'kafka.Kafka', properties];
  const child = spawn('sh', ['-c', KEEPER, 'keeper', ...java], { stdio: ['pipe', file.fd, file.fd] });
  const ended = promiseOfEnd(child);
  let over = false;
  let killed = false;
  let printed = '';
  void ended.then(async () => {
    over = true;
    child.stdin?.end();
    printed = existsSync(output) ? await readFile(output, 'utf8') : '';
    await file.close();
  });
  return {
    kill: async () => {
      killed = true;
      child.stdin?.end();
      await ended;
    },
    failure: () => (over && !killed ? `the broker ended by itself: ${printed.slice(-2_000)}` : null),
  };
};

const promiseOfEnd = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });

/** Made in a folder of its own and published by rename: test workers may all find the cache empty at once. */
const fillCache = async (): Promise<void> => {
  const building = `${CACHE}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const lib = join(building, 'lib');
  const template = join(building, 'template');
  await mkdir(lib, { recursive: true });
  const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${lib}`];
  await run('mvn', ['-B', '-q', '-f', join(HERE, 'pom.xml'), ...copy]);
  const properties = join(building, 'format.properties');
  await writeFile(properties, serverProperties({ port: 9092, controllerPort: 9093, folder: template }));
  const format = ['format', '-t', randomBytes(16).toString('base64url'), '-c', properties];
  await run('java', ['-Xmx64m', '-cp', join(lib, '*'), 'kafka.tools.StorageTool', ...format]);
  await mkdir(dirname(CACHE), { recursive: true });
  try {
    await rename(building, CACHE);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!jarsAreHere()) throw error;
  }
};
