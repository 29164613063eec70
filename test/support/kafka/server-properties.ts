export type BrokerProperties = {
  readonly port: number;
  readonly controllerPort: number;
  readonly folder: string;
  /** Listeners in addition to the plain one, by name, with their protocols and ports. */
  readonly listeners?: Readonly<Record<string, { readonly protocol: string; readonly port: number }>>;
  readonly more?: Readonly<Record<string, string | number>>;
  /** The default is a cluster of this broker alone. */
  readonly cluster?: ClusterProperties;
};

type ClusterProperties = {
  readonly node: number;
  /** The controller ports of all nodes, which have the numbers from 1 up. */
  readonly controllerPorts: readonly number[];
};

/** Returns the settings of a broker that starts fast, drops sessions fast, and can be killed and started again at once. */
export const serverProperties = ({ listeners = {}, more = {}, ...broker }: BrokerProperties): string => {
  const { node, controllerPorts } = broker.cluster ?? { node: 1, controllerPorts: [broker.controllerPort] };
  const replicas = controllerPorts.length;
  // All nodes but one must have a message before it is acknowledged.
  const inSync = Math.max(1, replicas - 1);
  const additionalListeners = Object.entries(listeners);
  const listener = [
    `PLAINTEXT://127.0.0.1:${broker.port}`,
    ...additionalListeners.map(([name, { port }]) => `${name}://127.0.0.1:${port}`),
  ].join();
  const protocols = [
    'PLAINTEXT:PLAINTEXT',
    'CONTROLLER:PLAINTEXT',
    ...additionalListeners.map(([name, { protocol }]) => `${name}:${protocol}`),
  ];
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': node,
    'controller.quorum.voters': controllerPorts.map((port, n) => `${n + 1}@127.0.0.1:${port}`).join(),
    listeners: `${listener},CONTROLLER://127.0.0.1:${broker.controllerPort}`,
    'advertised.listeners': listener,
    'listener.security.protocol.map': protocols.join(),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': broker.folder,
    'auto.create.topics.enable': false,
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'share.coordinator.state.topic.num.partitions': 1,
    // Lets consumer groups of one member form at once.
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    // With the default of 9 s a killed broker cannot register again until its last session has expired.
    'broker.heartbeat.interval.ms': 200,
    'broker.session.timeout.ms': 1_000,
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    'log.segment.bytes': 67_108_864,
    ...more,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
};
