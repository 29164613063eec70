import { spawnSync } from 'node:child_process';
import { KafkaContainer } from '@testcontainers/kafka';
import { freePorts } from '../free-ports.js';
import type { TestKafka } from './test-kafka.js';
import { untilItAnswers } from './until-it-answers.js';

const IMAGE = 'confluentinc/cp-kafka:8.0.0';
const CONTAINER_PORT = 9093;

/** Testcontainers publishes a port of Docker's choice, which a restart changes: clients would look for the old one. */
class FixedPortKafka extends KafkaContainer {
  constructor(private readonly port: number) {
    super(IMAGE);
    this.withKraft().withEnvironment({ KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false' });
  }

  protected override async beforeContainerCreated(): Promise<void> {
    await super.beforeContainerCreated();
    this.withExposedPorts({ container: CONTAINER_PORT, host: this.port });
  }
}

export const startInDocker = async (): Promise<TestKafka> => {
  const [port] = await freePorts();
  const container = await new FixedPortKafka(port).start();
  const brokers = [`${container.getHost()}:${port}`];
  const docker = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('docker', [...args, container.getId()], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`docker ${args.join(' ')} failed: ${stderr}`);
  };
  await untilItAnswers(brokers);
  return {
    brokers,
    kill: async () => {
      docker('kill', '--signal', 'KILL');
      await Promise.resolve();
    },
    restart: async () => {
      docker('start');
      await untilItAnswers(brokers);
    },
    stop: async () => {
      await container.stop();
    },
  };
};
