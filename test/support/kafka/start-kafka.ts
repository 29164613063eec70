import { spawnSync } from 'node:child_process';
import { jarsAreHere, startOnJava } from './java-broker.js';
import type { TestKafka } from './test-kafka.js';

/** Resolves when the broker answers an admin client. Fails, and never skips, where the machine can run none. */
export const startKafka = async (): Promise<TestKafka> => {
  const java = javaIsNewEnough();
  if (java && (jarsAreHere() || runs('mvn', '-v'))) return startOnJava();
  if (runs('docker', 'info')) {
    // Loaded here only: Docker's client takes a second to load.
    const { startInDocker } = await import('./docker-broker.js');
    return startInDocker();
  }
  throw new Error(
    'This test needs a Kafka broker, and so one of two things on this machine: Java 17 or newer with Maven ' +
      '(apt-get install openjdk-17-jre-headless maven), or a Docker daemon that answers.',
  );
};

const javaIsNewEnough = (): boolean => {
  // To stderr, such as: openjdk version "17.0.15" 2025-04-15. Java 8 calls itself "1.8".
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const major = /version "(\d+)/.exec(stderr ?? '')?.[1];
  return major !== undefined && Number(major) >= 17;
};

const runs = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { timeout: 10_000 }).status === 0;
