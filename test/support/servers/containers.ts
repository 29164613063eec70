import { spawnSync } from 'node:child_process';
import { KafkaContainer } from '@testcontainers/kafka';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { freePorts } from '../free-ports.js';
import { waitForBroker } from '../kafka/wait-for-broker.js';
import { WITHOUT_SYNCS, type Servers, type TestKafka } from './servers.js';

const POSTGRES_IMAGE = 'postgres:18';
const KAFKA_IMAGE = 'confluentinc/cp-kafka:8.0.0';
const KAFKA_CONTAINER_PORT = 9093;

/**
 * Testcontainers publishes a port that Docker chooses and that a restart changes. Clients would still use the old port.
 */
class FixedPortKafka extends KafkaContainer {
  constructor(private readonly port: number) {
    super(KAFKA_IMAGE);
    this.withKraft().withEnvironment({ KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false' });
  }

  protected override async beforeContainerCreated(): Promise<void> {
    await super.beforeContainerCreated();
    this.withExposedPorts({ container: KAFKA_CONTAINER_PORT, host: this.port });
  }
}

/** Adds advice to the error of Testcontainers if no Docker daemon answers. */
export const inDocker = async <T>(start: () => Promise<T>): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof Error) || !/container runtime/i.test(error.message)) throw error;
    throw new Error(
      'CADASTRE_TEST_SERVERS is "containers", but no Docker daemon answers. Start Docker, or unset ' +
        'CADASTRE_TEST_SERVERS to run the tests with the embedded servers.',
      { cause: error },
    );
  }
};

const docker = (id: string, ...args: readonly string[]): void => {
  const { status, stderr } = spawnSync('docker', [...args, id], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args.join(' ')} failed: ${stderr}`);
};

const startKafka = async (): Promise<TestKafka> => {
  const [port] = await freePorts();
  const container = await inDocker(() => new FixedPortKafka(port).start());
  const brokers = [`${container.getHost()}:${port}`];
  await waitForBroker(brokers);
  return {
    brokers,
    kill: async () => {
      docker(container.getId(), 'kill', '--signal', 'KILL');
      await Promise.resolve();
    },
    restart: async () => {
      docker(container.getId(), 'start');
      await waitForBroker(brokers);
    },
    stop: async () => {
      await container.stop();
    },
  };
};

/** Servers in Docker, by Testcontainers. It removes the containers even if the tests are killed. */
export const containers: Servers = {
  startPostgres: async () => {
    const flags = Object.entries(WITHOUT_SYNCS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const container = await inDocker(() =>
      new PostgreSqlContainer(process.env['CADASTRE_TEST_POSTGRES_IMAGE'] || POSTGRES_IMAGE)
        .withDatabase('postgres')
        .withCommand(['postgres', ...flags])
        .start(),
    );
    return {
      url: container.getConnectionUri(),
      stop: async () => {
        await container.stop();
      },
    };
  },
  startKafka,
};
