import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DATA } from '../folders.js';
import { freePorts } from '../free-ports.js';
import { cached, fetchJars, isCached, runJava, type RunningJava } from '../java.js';
import { serverProperties, type BrokerProperties } from './server-properties.js';
import type { TestKafka } from '../servers/servers.js';
import { waitForBroker } from './wait-for-broker.js';

const run = promisify(execFile);

const NAME = 'kafka-4.3.1';

export const jarsAreHere = (): boolean => isCached(NAME);

export const startOnJava = async (): Promise<TestKafka> => {
  const cache = await cached(NAME, make);
  const folder = await mkdtemp(join(DATA, 'cadastre-kafka-'));
  await cp(join(cache, 'template'), join(folder, 'log'), { recursive: true });
  const [port, controllerPort] = await freePorts();
  return startIn(folder, { port, controllerPort, folder: join(folder, 'log') });
};

export type ScramUser = { readonly name: string; readonly password: string };

/** Starts a broker with additional listeners and SCRAM users. The folder is removed when it stops. */
export const startWithUsers = async (
  folder: string,
  options: Pick<BrokerProperties, 'listeners' | 'more'>,
  users: readonly ScramUser[],
): Promise<TestKafka> => {
  const lib = join(await cached(NAME, make), 'lib');
  const [port, controllerPort] = await freePorts();
  const broker = { ...options, port, controllerPort, folder: join(folder, 'log') };
  await formatFolder(lib, join(folder, 'format.properties'), broker, users);
  return startIn(folder, broker);
};

const startIn = async (folder: string, properties: BrokerProperties): Promise<TestKafka> => {
  const { port } = properties;
  const cache = await cached(NAME, make);
  const file = join(folder, 'server.properties');
  await writeFile(file, serverProperties(properties));
  const brokers = [`127.0.0.1:${port}`];

  let broker = await launch(folder, file, join(cache, 'lib'));
  const kill = (): Promise<void> => broker.kill();
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  const answer = async (): Promise<void> => {
    try {
      await waitForBroker(brokers, () => failureOf(broker));
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
      broker = await launch(folder, file, join(cache, 'lib'));
      await answer();
    },
    stop,
  };
};

const failureOf = (broker: RunningJava): string | null => {
  const failureOutput = broker.failure();
  return failureOutput === null ? null : `the broker has ended: ${failureOutput.slice(-2_000)}`;
};

const launch = (folder: string, properties: string, jars: string): Promise<RunningJava> => {
  const heap = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  return runJava([...heap, '-cp', join(jars, '*'), 'kafka.Kafka', properties], join(folder, 'output.txt'));
};

/** Makes the jars (44 MB, from the pom beside this file) and an empty, formatted log folder. */
const make = async (folder: string): Promise<void> => {
  const [lib, template] = [join(folder, 'lib'), join(folder, 'template')];
  await fetchJars(join(import.meta.dirname, 'pom.xml'), lib);
  await formatFolder(lib, join(folder, 'format.properties'), { port: 9092, controllerPort: 9093, folder: template });
};

const formatFolder = async (
  lib: string,
  properties: string,
  broker: BrokerProperties,
  users: readonly ScramUser[] = [],
): Promise<void> => {
  await writeFile(properties, serverProperties(broker));
  const scram = users.flatMap(({ name, password }) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((type) => [
      '--add-scram',
      `${type}=[name=${name},password=${password}]`,
    ]),
  );
  // One in 64 random ids begins with "-". As a separate argument the tool would take such an id for an option.
  const cluster = `--cluster-id=${randomBytes(16).toString('base64url')}`;
  const format = ['format', cluster, '-c', properties, ...scram];
  await run('java', ['-Xmx64m', '-cp', join(lib, '*'), 'kafka.tools.StorageTool', ...format]);
};
