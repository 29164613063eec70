import type { TopicDefinition } from './topic-definition.js';

/** A topic of the cluster. `replicas`: of the partition that has the fewest. */
export type ExistingTopic = {
  readonly partitions: number;
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
};

/** What `cadastre topics apply` does about a difference. */
type TopicAction = 'create' | 'configure' | 'keep';

export type TopicDifference = {
  readonly topic: string;
  /** `topic` if it does not exist, `partitions`, `replicas`, or the name of a configuration value. */
  readonly attribute: string;
  readonly target: string;
  /** Null if the topic does not exist. */
  readonly actual: string | null;
  readonly action: TopicAction;
};

/** Returns how a topic differs from its definition. `existing` is undefined if the cluster has no such topic. */
export const compareTopic = (
  definition: TopicDefinition,
  existing: ExistingTopic | undefined,
): readonly TopicDifference[] => {
  const { name: topic, partitions, replicas, config } = definition;
  if (!existing) {
    return [{ topic, attribute: 'topic', target: describeSize(partitions, replicas), actual: null, action: 'create' }];
  }
  const differ = (attribute: string, target: string, actual: string, action: TopicAction): TopicDifference[] =>
    target === actual ? [] : [{ topic, attribute, target, actual, action }];
  return [
    ...differ('partitions', String(partitions), String(existing.partitions), 'keep'),
    ...differ('replicas', String(replicas), String(existing.replicas), 'keep'),
    ...Object.entries(config).flatMap(([name, target]) =>
      differ(name, target, existing.config[name] ?? '', 'configure'),
    ),
  ];
};

const describeSize = (partitions: number, replicas: number): string =>
  `${partitions} partition${partitions === 1 ? '' : 's'} with ${replicas} replica${replicas === 1 ? '' : 's'}`;

/** Why `cadastre topics apply` leaves an attribute as it is, and what an operator can do. */
const REASONS_TO_KEEP: Readonly<Record<string, string>> = {
  partitions:
    'another number would put later events of a stream into another partition, and consumers would lose their order. ' +
    'Set KAFKA_TOPIC_PARTITIONS to the number of the topic, or publish to new topics with another CADASTRE_TOPIC_PREFIX',
  replicas:
    'brokers must copy the messages. Use kafka-reassign-partitions.sh, or set KAFKA_TOPIC_REPLICAS to the number of the ' +
    'topic',
};

/** Returns one line for people about a difference. */
export const describeDifference = ({ topic, attribute, target, actual }: TopicDifference): string =>
  actual === null ? `${topic}: does not exist` : `${topic}: ${attribute} is ${actual || 'not set'}, not ${target}`;

/** Returns one line for people about what `cadastre topics apply` does. */
export const describeAction = ({ topic, attribute, target, actual, action }: TopicDifference): string => {
  switch (action) {
    case 'create':
      return `create ${topic}: ${target}`;
    case 'configure':
      return `change ${topic}: ${attribute} from ${actual || 'nothing'} to ${target}`;
    case 'keep':
      return `keep ${topic}: ${attribute} stays ${actual} instead of ${target}; ${REASONS_TO_KEEP[attribute] ?? ''}`;
  }
};
