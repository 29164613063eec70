import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DATA } from '../folders.js';
import { freePorts } from '../free-ports.js';
import { cached } from '../cached.js';
import { archiveClasses, fetchJars, runJava, useArchive, type RunningJava } from '../java.js';
import { serverProperties, type BrokerProperties } from './server-properties.js';
import type { TestKafka } from '../servers/servers.js';
import { waitForBroker } from './wait-for-broker.js';

const run = promisify(execFile);

const NAME = 'kafka-4.3.1';

export const startOnJava = async (): Promise<TestKafka> => {
  const cache = await cached(NAME, make);
  const folder = await mkdtemp(join(DATA, 'cadastre-kafka-'));
  await cp(join(cache, 'template'), join(folder, 'log'), { recursive: true });
  const [port, controllerPort] = await freePorts();
  return startIn(folder, { port, controllerPort, folder: join(folder, 'log') });
};

type ScramUser = { readonly name: string; readonly password: string };

/** Starts a broker with additional listeners and SCRAM users. The folder is removed when it stops. */
export const startWithUsers = async (
  folder: string,
  options: Pick<BrokerProperties, 'listeners' | 'more'>,
  users: readonly ScramUser[],
): Promise<TestKafka> => {
  const lib = join(await cached(NAME, make), 'lib');
  const [port, controllerPort] = await freePorts();
  const broker = { ...options, port, controllerPort, folder: join(folder, 'log') };
  await formatFolder(lib, join(folder, 'format.properties'), broker, { users });
  return startIn(folder, broker);
};

/** A cluster whose brokers can be killed and started again one by one. */
export type TestKafkaCluster = {
  readonly brokers: readonly string[];
  readonly nodes: readonly Pick<TestKafka, 'kill' | 'restart'>[];
  /** Stops all brokers and removes their data. */
  stop(): Promise<void>;
};

/** Starts a cluster in which every message is on all nodes, and on all but one before it is acknowledged. */
export const startKafkaCluster = async (size: number): Promise<TestKafkaCluster> => {
  const lib = join(await cached(NAME, make), 'lib');
  const ports: [number, number][] = [];
  while (ports.length < size) {
    const pair = await freePorts();
    if (!ports.flat().some((port) => pair.includes(port))) ports.push(pair);
  }
  const brokers = ports.map(([port]) => `127.0.0.1:${port}`);
  const controllerPorts = ports.map(([, controllerPort]) => controllerPort);
  const id = newClusterId();
  const startNode = async ([port, controllerPort]: readonly [number, number], n: number): Promise<TestKafka> => {
    const folder = await mkdtemp(join(DATA, 'cadastre-kafka-'));
    const cluster = { node: n + 1, controllerPorts };
    const broker = { port, controllerPort, folder: join(folder, 'log'), cluster };
    await formatFolder(lib, join(folder, 'format.properties'), broker, { id });
    return startIn(folder, broker, brokers);
  };
  const starts = await Promise.allSettled(ports.map(startNode));
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())));
  const failure = starts.find((start) => start.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { brokers, nodes, stop };
};

/** Starts a broker. Resolves when all `brokers` of its cluster are ready. */
const startIn = async (
  folder: string,
  properties: BrokerProperties,
  brokers: readonly string[] = [`127.0.0.1:${properties.port}`],
): Promise<TestKafka> => {
  const cache = await cached(NAME, make);
  const file = join(folder, 'server.properties');
  await writeFile(file, serverProperties(properties));

  const start = async (): Promise<RunningJava> => {
    const args = [
      useArchive(await cached(`${NAME}-classes`, makeArchive)),
      ...brokerArguments(join(cache, 'lib'), file),
    ];
    return runJava(args, join(folder, 'output.txt'));
  };
  let running = await start();
  const kill = (): Promise<void> => running.kill();
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  const answer = async (): Promise<void> => {
    try {
      await waitForBroker(brokers, () => failureOf(running));
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
      running = await start();
      await answer();
    },
    stop,
  };
};

const failureOf = (running: RunningJava): string | null => {
  const failureOutput = running.failure();
  return failureOutput === null ? null : `the broker has ended: ${failureOutput.slice(-2_000)}`;
};

/** Returns the arguments of Java for a broker. */
const brokerArguments = (jars: string, properties: string): readonly string[] => {
  const heap = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  return [...heap, '-cp', join(jars, '*'), 'kafka.Kafka', properties];
};

/** A start with the archive of its classes takes 1.2 s of CPU instead of 2.1 s. */
const makeArchive = async (folder: string): Promise<void> => {
  const cache = await cached(NAME, make);
  const [port, controllerPort] = await freePorts();
  const file = join(folder, 'server.properties');
  await cp(join(cache, 'template'), join(folder, 'log'), { recursive: true });
  await writeFile(file, serverProperties({ port, controllerPort, folder: join(folder, 'log') }));
  await archiveClasses(folder, brokerArguments(join(cache, 'lib'), file), (running) =>
    waitForBroker([`127.0.0.1:${port}`], () => failureOf(running)),
  );
  await rm(join(folder, 'log'), { recursive: true });
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
  { id = newClusterId(), users = [] }: { readonly id?: string; readonly users?: readonly ScramUser[] } = {},
): Promise<void> => {
  await writeFile(properties, serverProperties(broker));
  const scram = users.flatMap(({ name, password }) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((type) => [
      '--add-scram',
      `${type}=[name=${name},password=${password}]`,
    ]),
  );
  // One in 64 random ids begins with "-". As a separate argument the tool would take such an id for an option.
  const format = ['format', `--cluster-id=${id}`, '-c', properties, ...scram];
  await run('java', ['-Xmx64m', '-cp', join(lib, '*'), 'kafka.tools.StorageTool', ...format]);
};

const newClusterId = (): string => randomBytes(16).toString('base64url');
