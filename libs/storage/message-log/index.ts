export {
  buildAsyncApiDocument,
  type InboundChannel,
  type OutboundChannel,
  type StateChannelMessage,
} from './schemas/async-api.js';
export {
  toCloudEventType,
  toKafkaMessage,
  toTopicName,
  type OutboundMessage,
  type CloudEventSource,
} from './topics/cloud-event.js';
export { parseInboundEvent, type InboundEvent } from './consuming/inbound-cloud-event.js';
export {
  TopicConsumer,
  type ConsumedMessage,
  type MessageHandler,
  type MessageResult,
} from './consuming/topic-consumer.js';
export { TopicTail, type TailMessage } from './consuming/topic-tail.js';
export { createKafkaClient, type KafkaConnection } from './connection/kafka-connection.js';
export { findOutageReason } from './connection/kafka-outage.js';
export { MessageSender, type LeadershipCheck } from './publishing/message-sender.js';
export { KafkaPublisher } from './publishing/kafka-publisher.js';
export {
  findReplayRefusal,
  replayLog,
  ReplayError,
  type ReplayRequest,
  type ReplayResult,
} from './replay/log-replay.js';
export type { ReplayStart } from './replay/log-replay.queries.js';
export { buildSecurityOptions, type KafkaSecurity } from './connection/kafka-security.js';
export { buildEventSchemas, type JsonSchema } from './schemas/schemas.js';
export type { TopicSettings } from './topics/topic-definition.js';
export { describeAction, describeDifference, type TopicDifference } from './topics/topic-differences.js';
export {
  applyTopicSettings,
  findTopicDifferences,
  hasTopic,
  listTopics,
  type NamedTopic,
} from './topics/topics.admin.js';
export { createPublisherFollower } from './publishing/publisher.follower.js';
