export { buildAsyncApiDocument, type InboundChannel } from './async-api.js';
export {
  toCloudEventType,
  toKafkaMessage,
  toTopicName,
  type OutboundMessage,
  type CloudEventSource,
} from './cloud-event.js';
export { parseInboundEvent, type InboundEvent } from './inbound-cloud-event.js';
export { TopicConsumer, type ConsumedMessage, type MessageHandler, type MessageResult } from './inbox.js';
export { createKafkaClient, type KafkaConnection } from './kafka-connection.js';
export { KafkaPublisher } from './kafka-log.js';
export { buildSecurityOptions, type KafkaSecurity } from './kafka-security.js';
export { buildEventSchemas, type JsonSchema } from './schemas.js';
export { listTopics } from './topics.js';
export { createPublisherFollower } from './publisher.follower.js';
